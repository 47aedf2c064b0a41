// In charge of: the MPD (ISO/IEC 23009-1) of a presentation of CMAF tracks, as files or inside a tar.
// Not in charge of: adaptation sets (adaptationSets.ts), the addresses of segments (segmentAddressing.ts).
import { TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import { base64 } from '../../formats/encodeBytes.ts'
import { cuesInPresentation } from '../presentation/adBreaks.ts'
import { audioSet, audioSets, imageSet, subsets, textSet, videoSets } from './adaptationSets.ts'
import { filesOf, rangesOf, type Addressing } from './segmentAddressing.ts'
import { seconds } from '../hls/playlistSyntax.ts'
import type { Presentation } from '../presentation/presentation.ts'
import { locateInTar, type TarIndex } from '../presentation/objectLocation.ts'
import { segmentDurations } from '../presentation/segmentBitrates.ts'
import { encodeUriPath } from '../presentation/relativeUri.ts'
import { xmlDocument, element, type Xml } from '../../formats/xml.ts'

const PROFILES = 'urn:mpeg:dash:profile:isoff-live:2011,urn:mpeg:dash:profile:cmaf:2019'
/** SegmentList is not part of the live profile: a tar. */
const FULL_PROFILE = 'urn:mpeg:dash:profile:full:2011'
/** ANSI/SCTE 214-1, 6.8.4: one splice_info_section in base64. */
const CUE_SCHEME = 'urn:scte:scte35:2014:xml+bin'
const CUE_NAMESPACE = 'http://www.scte.org/schemas/35/2016'

/** `manifest.mpd`. Throws for tracks that are not CMAF, and for segments whose names do not count up by one. */
export function dashManifest(presentation: Presentation): string {
  const { text, thumbnails } = presentation
  return manifest(
    presentation,
    PROFILES,
    null,
    sets(presentation, filesOf, [
      ...text.map((track) => (id: number) => textSet(track, id)),
      ...(thumbnails === null || thumbnails.sheets.length === 0 ? [] : [(id: number) => imageSet(thumbnails, id)]),
    ]),
  )
}

/**
 * `tar.mpd`: the same tracks as byte ranges of the tar. Captions as files and thumbnails are left out: DASH has no
 * element that players support for locating them inside another file.
 */
export function tarDashManifest(presentation: Presentation, tar: TarIndex): string {
  return manifest(
    presentation,
    FULL_PROFILE,
    encodeUriPath(tar.name),
    sets(presentation, rangesOf(locateInTar(tar)), []),
  )
}

/** The adaptation sets of a period, numbered: video, audio, the rest, and the subsets. */
function sets(presentation: Presentation, addressing: Addressing, rest: readonly ((id: number) => Xml)[]): Xml[] {
  const videos = videoSets(presentation, addressing)
  const audio = audioSets(presentation).map((tracks, at) => ({ id: videos.length + at, tracks }))
  const others = rest.map((make, at) => ({ id: videos.length + audio.length + at, make }))
  return [
    ...videos.map(({ xml }) => xml),
    ...audio.map(({ id, tracks }) => audioSet(tracks, presentation.audio, id, addressing)),
    ...others.map(({ id, make }) => make(id)),
    ...subsets(
      videos,
      audio.map(({ id, tracks }) => ({ id, track: tracks[0]! })),
      others.map(({ id }) => id),
    ),
  ]
}

function manifest(presentation: Presentation, profiles: string, base: string | null, content: Xml[]): string {
  const { video, audio, duration } = presentation
  // reduce, not Math.max with all values: a long video has more segments than a call can have arguments.
  const longest =
    [...video, ...audio].flatMap(segmentDurations).reduce((most, one) => Math.max(most, one), 0) / 1_000_000
  const period = element('Period', { id: '0', start: 'PT0S' }, [...eventStream(presentation), ...content])
  return xmlDocument(
    element(
      'MPD',
      {
        xmlns: 'urn:mpeg:dash:schema:mpd:2011',
        profiles,
        type: 'static',
        mediaPresentationDuration: `PT${seconds(duration)}S`,
        maxSegmentDuration: `PT${seconds(longest)}S`,
        // 5.3.5.2: @bandwidth is the peak of whole segments, so one segment is always enough.
        minBufferTime: `PT${seconds(longest)}S`,
      },
      [...(base === null ? [] : [element('BaseURL', {}, base)]), period],
    ),
  )
}

function eventStream(presentation: Presentation): Xml[] {
  const cues = cuesInPresentation(presentation).filter(({ section }) => section.length > 0)
  // A section may describe several segments, but is one event.
  const seen = new Set<string>()
  const events = cues.flatMap(({ start, duration, section }) => {
    const binary = base64(section)
    const time = Math.round(start * TICKS_PER_SECOND)
    if (seen.has(`${time} ${binary}`)) return []
    seen.add(`${time} ${binary}`)
    const attributes = {
      presentationTime: time,
      duration: duration === null ? null : Math.round(duration * TICKS_PER_SECOND),
      id: seen.size,
    }
    const signal = element('Signal', { xmlns: CUE_NAMESPACE }, [element('Binary', {}, binary)])
    return [element('Event', attributes, [signal])]
  })
  if (events.length === 0) return []
  return [element('EventStream', { schemeIdUri: CUE_SCHEME, timescale: TICKS_PER_SECOND }, events)]
}
