// In charge of: addresses and times of a track's segments: SegmentTemplate or SegmentList, with a SegmentTimeline.
// Not in charge of: the rest of a representation (adaptationSets.ts).
import type { AudioTrack, Segment, VideoTrack } from '../presentation/presentation.ts'
import type { ObjectLocator, ObjectLocation } from '../presentation/objectLocation.ts'
import { joinPath, encodeUriPath } from '../presentation/relativeUri.ts'
import { element, type Xml } from '../../formats/xml.ts'

/** Writes the element that gives the addresses of a track's segments. */
export type Addressing = (track: VideoTrack | AudioTrack) => Xml

/** Files, whose names differ by a number only: a template (ISO/IEC 23009-1, 5.3.9.4). */
export const filesOf: Addressing = (track) => {
  const { directory, timescale, segments } = track
  const initialization = encodeUriPath(joinPath(directory, initOf(track)))
  const { media, first } = numbering(directory, segments)
  return element('SegmentTemplate', { timescale, initialization, media, startNumber: first }, [timeline(segments)])
}

/** 5.3.9.3: byte ranges of one file, the base URL. */
export function rangesOf(locate: ObjectLocator): Addressing {
  return (track) => {
    const { directory, timescale, segments } = track
    return element('SegmentList', { timescale }, [
      element('Initialization', { range: range(locate(directory, initOf(track))) }),
      timeline(segments, false),
      ...segments.map(({ uri }) => element('SegmentURL', { mediaRange: range(locate(directory, uri)) })),
    ])
  }
}

/** Both ends are inclusive (RFC 7233). */
function range({ range }: ObjectLocation): string {
  if (range === null) throw new Error('A byte range refers to several files.')
  return `${range.offset}-${range.offset + range.bytes - 1}`
}

function initOf({ id, form, init }: VideoTrack | AudioTrack): string {
  if (form !== 'cmaf' || init === null) throw new Error(`DASH needs CMAF segments, which ${id} does not have.`)
  return init.uri
}

/** The template of names that contain a number, counting up by one from `first`. Throws for any other names. */
export function numbering(directory: string, segments: readonly Segment[]): { media: string; first: number } {
  const [, before, digits, behind] = /^(.*\D|)(\d+)(\.[^./]*)?$/.exec(segments[0]?.uri ?? '') ?? []
  if (before === undefined || digits === undefined) throw new Error('The names of segments must contain their numbers.')
  const first = Number(digits)
  const end = behind ?? ''
  segments.forEach(({ uri }, at) => {
    if (uri !== `${before}${String(first + at).padStart(digits.length, '0')}${end}`)
      throw new Error(`The segment ${uri} is out of order.`)
  })
  // 5.3.9.4.4: the width is a minimum, so more digits are allowed. Percent-encoded names contain no "$".
  const media = `${encodeUriPath(joinPath(directory, before))}$Number%0${digits.length}d$${encodeUriPath(end)}`
  return { media, first }
}

/**
 * 5.3.9.6: runs of equal durations; `t` where a segment does not begin at the end of the one before. In a list, one <S> for
 * each segment: dash.js finds the <SegmentURL> by counting <S> elements, without their repetitions.
 */
function timeline(segments: readonly Segment[], inRuns = true): Xml {
  const runs: { t: number | null; d: number; r: number }[] = []
  let end: number | null = null
  for (const { start, duration } of segments) {
    const last = runs.at(-1)
    if (inRuns && last !== undefined && start === end && last.d === duration) last.r += 1
    else runs.push({ t: start === end ? null : start, d: duration, r: 0 })
    end = start + duration
  }
  return element(
    'SegmentTimeline',
    {},
    runs.map(({ t, d, r }) => element('S', { t, d, r: r === 0 ? null : r })),
  )
}
