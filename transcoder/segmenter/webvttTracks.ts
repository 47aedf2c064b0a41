// In charge of: captions and subtitles as WebVTT tracks: their files next to the segments, and their description for
// the manifests.
// Not in charge of: reading them from ffmpeg (captionReader.ts, subtitleReader.ts), manifests (manifests/).
import { captionField } from '#contract/job/captions.ts'
import { joinPath } from '#contract/job/paths/outputNames.ts'
import { TaskError } from '#contract/taskError.ts'
import type { CaptionChannelCues } from '../formats/cea/captionDecoder.ts'
import { webvttFiles, type SegmentInterval } from '../manifests/webvtt/webvttSegments.ts'
import { languageName, languageTag } from '../manifests/presentation/languageTags.ts'
import type { Segment, TextTrack, VideoTrack } from '../manifests/presentation/presentation.ts'
import type { CaptionCue } from '../formats/captions/captionCue.ts'
import { vttCueOf } from '../manifests/webvtt/captionMarkup.ts'
import type { VttCue } from '../manifests/webvtt/webvttWriter.ts'
import type { SidecarPlan } from '#contract/task/plan/captionsPlan.ts'
import type { TextTrackPlan } from '#contract/task/plan/packagingPlan.ts'
import { TICKS_PER_SECOND } from '../formats/mpegts/clock.ts'
import { TS_ORIGIN_TICKS } from '../plan/forms.ts'
import { parseWebvtt } from '../manifests/webvtt/webvttParser.ts'
import type { SubtitleText } from './subtitleReader.ts'
import { inMemoryObject, WEBVTT_TYPE, type SidecarFile } from './sidecarFiles.ts'

const SUBTITLE_ORIGIN_SECONDS = TS_ORIGIN_TICKS / TICKS_PER_SECOND

/** One track that has no files yet; `directory` is below `captions/`. */
export interface TextTrackSource extends Pick<
  TextTrack,
  'id' | 'purpose' | 'channel' | 'name' | 'language' | 'isDefault'
> {
  directory: string
  cues: VttCue[]
  /** The parameter that it comes from; missing = the source. */
  field?: string
}

export interface TextTracks {
  tracks: TextTrack[]
  files: SidecarFile[]
}

/** `languages` by channel. */
export function captionTracks(
  channels: readonly CaptionChannelCues[],
  languages: Readonly<Record<string, string>>,
): TextTrackSource[] {
  return channels.map(({ channel, cues }) => ({
    id: `captions_${channel}`,
    directory: channel,
    purpose: 'captions',
    channel,
    name: channel,
    language: languages[channel] ?? null,
    isDefault: false,
    cues,
  }))
}

/** Streams without a cue during the video are left out. `duration`: seconds of the video; `secondsBefore`: of the text before it. */
export function subtitleTracks(
  plans: readonly TextTrackPlan[],
  subtitles: readonly (SubtitleText | undefined)[],
  duration: number,
  secondsBefore = 0,
): TextTrackSource[] {
  const parsed = plans.map((plan, at) => ({
    plan,
    cues: cuesOf(plan, subtitles[at]?.text ?? '', SUBTITLE_ORIGIN_SECONDS + secondsBefore, duration),
  }))
  return parsed
    .filter(({ cues }) => cues.length > 0)
    .map(({ plan, cues }) => ({
      id: plan.id,
      directory: plan.id,
      purpose: purposeOf(plan),
      channel: null,
      name: trackName(plan),
      language: plan.language,
      isDefault: false,
      cues,
    }))
}

/** Broadcasters send a teletext page again and again while it is shown: each makes a cue, which follow without a gap. */
function cuesOf({ teletext }: TextTrackPlan, text: string, origin: number, duration: number): VttCue[] {
  const cues = parseWebvtt(text, origin, duration)
  if (!teletext) return cues
  const joined: VttCue[] = []
  for (const cue of cues) {
    const before = joined.at(-1)
    if (before !== undefined && before.end === cue.start && before.text === cue.text) before.end = cue.end
    else joined.push({ ...cue })
  }
  return joined
}

/** The job's caption files, also those without a cue. `captions` by position in `plans`. */
export function sidecarTracks(
  plans: readonly SidecarPlan[],
  captions: readonly (readonly CaptionCue[])[],
): TextTrackSource[] {
  return plans.map((plan, position) => ({
    id: `file_${plan.caption}`,
    directory: `file_${plan.caption}`,
    purpose: purposeOf(plan),
    channel: null,
    // A playlist has no way to write a quotation mark in a name (RFC 8216bis, 4.2).
    name: plan.label === '' ? trackName(plan) : plan.label.replaceAll('"', "'"),
    language: plan.language,
    isDefault: plan.isDefault,
    field: captionField(plan.caption),
    cues: (captions[position] ?? []).map(vttCueOf),
  }))
}

function purposeOf({
  forced,
  hearingImpaired,
}: Pick<TextTrackPlan, 'forced' | 'hearingImpaired'>): TextTrack['purpose'] {
  return forced ? 'forced' : hearingImpaired ? 'captions' : 'subtitles'
}

/** Names are unique in a presentation (RFC 8216bis, 4.4.6.1.1). */
function withUniqueNames(tracks: readonly TextTrackSource[]): TextTrackSource[] {
  const used = new Set<string>()
  return tracks.map((track) => {
    let name = track.name
    for (let count = 2; used.has(name); count++) name = `${track.name} ${count}`
    used.add(name)
    return { ...track, name }
  })
}

/** By language and purpose: the titles in the source may be private. */
function trackName({
  language,
  forced,
  hearingImpaired,
}: Pick<TextTrackPlan, 'language' | 'forced' | 'hearingImpaired'>): string {
  const tag = languageTag(language)
  const about = [...(forced ? ['forced'] : []), ...(hearingImpaired ? ['SDH'] : [])].join(', ')
  return `${tag === null ? 'Subtitles' : languageName(tag)}${about === '' ? '' : ` (${about})`}`
}

/** Of all segments of text of a presentation. They are kept in memory until they are stored. */
const MOST_CHARACTERS = 128 * 2 ** 20

/**
 * `own`: the attempt's directory. `video`: the track at whose segment boundaries text is split. `origin`: presentation
 * time 0 on the clock of HLS segments, 90 kHz. Throws TaskError captions_unreadable if cues are shown over so many
 * segments that their text would have more than 128 MiB.
 */
export function buildTextTracks(
  texts: readonly TextTrackSource[],
  { own: attemptDirectory, video, origin }: { own: string; video: VideoTrack; origin: number },
): TextTracks {
  const files: SidecarFile[] = []
  const intervals = segmentIntervals(video)
  let room = MOST_CHARACTERS
  const tracks = withUniqueNames(texts).map(({ cues, directory: name, field, ...about }): TextTrack => {
    const directory = `captions/${name}`
    const written = webvttFiles({ cues }, intervals, origin, room)
    if (written === null) throw tooOften(about.name, field)
    room -= written.segments.reduce((sum, { length }) => sum + length, 0)
    const store = (uri: string, body: string): Omit<Segment, 'start' | 'duration'> => {
      const content = inMemoryObject(Buffer.from(body))
      const { bytes, sha256 } = content
      files.push({ path: joinPath(directory, uri), contentType: WEBVTT_TYPE, role: 'captions', content })
      return { uri, bytes, sha256 }
    }
    return {
      ...about,
      kind: 'text',
      directory,
      timescale: 1000,
      segments: written.segments.map((body, index) => ({
        ...store(`${attemptDirectory}/${String(index + 1).padStart(5, '0')}.vtt`, body),
        ...intervals[index]!,
      })),
      fullFile: store(`${attemptDirectory}/captions.vtt`, written.fullFile),
    }
  })
  return { tracks, files }
}

function tooOften(name: string, field: string | undefined): TaskError {
  const most = `${MOST_CHARACTERS / 2 ** 20} MiB`
  const why = `The captions "${name}" have too many cues that are shown for a long time: the segments repeat them, and would have more than ${most} of text. Use longer segments, or captions that end earlier.`
  return new TaskError('captions_unreadable', why, { field })
}

/** In whole milliseconds, without gaps. */
function segmentIntervals({ segments, timescale }: VideoTrack): SegmentInterval[] {
  const at = (ticks: number) => Math.round((ticks * 1000) / timescale)
  return segments.map(({ start, duration }) => ({ start: at(start), duration: at(start + duration) - at(start) }))
}
