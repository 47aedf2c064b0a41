// In charge of: which captions are drawn into the video, from a caption file or from a subtitle stream of the source, and
// what is said about them.
// Not in charge of: reading them (pipeline/burnIn), how text is drawn (formats/ass), the request's rules
// (contract/job/rules/burnIn.ts).
import { captionField } from '#contract/job/captions.ts'
import type { BurnInSpec, JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { CaptionFile } from '../../formats/captions/captionFile.ts'
import type { CaptionCue } from '../../formats/captions/captionCue.ts'
import type { EngineFeatures } from '../model/engineFeatures.ts'
import type { MediaInfo, OtherStream } from '../model/mediaInfo.ts'
import type { BurnInPlan, TextBurnInPlan } from '#contract/task/plan/captionsPlan.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { PlanContext } from '../planContext.ts'
import { isDrawnBitmap } from './bitmapBurnIn.ts'
import { placeCues } from './placeCues.ts'
import { fileWarnings } from './sidecarCaptions.ts'
import { isTextSubtitle } from './textSubtitles.ts'

/** Codecs of subtitles that are images. */
const BITMAP_CODECS = new Set(['dvb_subtitle', 'hdmv_pgs_subtitle', 'dvd_subtitle', 'xsub'])

/** What was read of the captions that are drawn. */
export interface DrawnCaptions {
  /** Seconds after the source's first frame, before any cut; a limited number at a time. */
  cues: readonly CaptionCue[]
  /** The file that they are from; null = a subtitle stream. */
  file: CaptionFile | null
  /** The subtitle stream; for a joined source, of the first piece that has one. null = the captions are from a file. */
  stream: OtherStream | null
  /** Captions that were left out because too many are shown at once. */
  crowded: number
  /** Characters that no installed font has. */
  missing: readonly string[]
}

const FIELD = 'burn_in_captions'
const TRACK_FIELD = `${FIELD}.source_track`

/** The subtitle stream that a job draws; null = it draws none. Throws subtitle_track_missing or subtitle_track_unsupported. */
export function drawnStream(
  { burnIn = null }: JobSpec,
  media: MediaInfo,
  features: Pick<EngineFeatures, 'teletext'>,
): OtherStream | null {
  if (burnIn?.kind !== 'source track') return null
  const tracks = media.other.filter(({ type }) => type === 'subtitle')
  const stream = tracks[burnIn.track - 1]
  if (stream === undefined) {
    const names = tracks.map(({ codec, language }) => (language === null ? codec : `${codec} (${language})`))
    const has =
      tracks.length === 0
        ? 'the source has no subtitle streams'
        : `the source has ${tracks.length}: ${names.slice(0, 20).join(', ')}`
    const details = { available: tracks.length }
    throw new TaskError('subtitle_track_missing', `source_track is ${burnIn.track}, but ${has}.`, {
      field: TRACK_FIELD,
      details,
    })
  }
  if (isTextSubtitle(stream, features) || isDrawnBitmap(stream)) return stream
  const why = BITMAP_CODECS.has(stream.codec)
    ? 'consists of images of a kind that cannot be drawn; DVB and PGS subtitles can'
    : stream.codec === 'dvb_teletext'
      ? 'is teletext, of which this ffmpeg cannot read one language alone'
      : 'is in a format that cannot be read as text'
  throw new TaskError(
    'subtitle_track_unsupported',
    `Subtitle stream ${burnIn.track} of the source (${stream.codec}) ${why}.`,
    { field: TRACK_FIELD },
  )
}

/** The same where it is text, as a list: no output leaves it out. */
export function drawnText(spec: JobSpec, media: MediaInfo, features: Pick<EngineFeatures, 'teletext'>): OtherStream[] {
  if (spec.burnIn?.kind !== 'source track' || spec.video.length === 0) return []
  const stream = media.other.filter(({ type }) => type === 'subtitle')[spec.burnIn.track - 1]
  return stream !== undefined && isTextSubtitle(stream, features) ? [stream] : []
}

/** The plan, and its warnings. `drawn` null = the job draws nothing. */
export function planBurnIn(
  context: PlanContext,
  drawn: DrawnCaptions | null,
  { cut, duration }: { cut: Pick<CutPlan, 'startSeconds'> | null; duration: number | null },
): BurnInPlan | null {
  const { spec, media, features } = context
  const { burnIn = null } = spec
  if (burnIn === null || spec.video.length === 0) return null
  requireLibass(features)
  const stream = drawn === null ? drawnStream(spec, media, features) : drawn.stream
  const { cues = [], crowded = 0, missing = [], file = null } = drawn ?? {}
  const placed = placeCues(cues, cut, duration)
  const field = burnIn.kind === 'caption' ? captionField(burnIn.caption) : TRACK_FIELD
  const name = burnIn.kind === 'caption' ? `Caption file ${burnIn.caption}` : `Subtitle stream ${burnIn.track}`
  // A track of the same file has its own warnings (sidecarCaptions.ts); uniqueWarnings removes the second ones.
  if (file !== null && burnIn.kind === 'caption')
    context.warn(...fileWarnings(burnIn.caption, file, placeCues(file.cues, cut, duration).length))
  if (missing.length > 0) context.warn({ code: 'caption_glyphs_missing', field: FIELD, message: glyphMessage(missing) })
  if (crowded > 0) {
    const message = `${name}: ${crowded} of its captions are not drawn, because too many are shown at the same time.`
    context.warn({ code: 'captions_left_out', field, message })
  }
  if (placed.length === 0 && file?.remarks.some(({ kind }) => kind === 'empty') !== true) {
    const message = `${name} has no captions in the part of the source that is used: nothing is drawn.`
    context.warn({ code: 'captions_empty', field, message })
  }
  return { kind: 'text', from: sourceOf(burnIn, stream), font: fontOf(spec, stream), cues: placed.length }
}

function sourceOf(burnIn: BurnInSpec, stream: OtherStream | null): TextBurnInPlan['from'] {
  if (burnIn.kind === 'caption' || stream === null)
    return { kind: 'caption', caption: 'caption' in burnIn ? burnIn.caption : 0 }
  return { ...burnIn, stream: stream.index }
}

export function requireLibass({ ass }: Pick<EngineFeatures, 'ass'>): void {
  if (ass) return
  const message = 'This transcoder’s ffmpeg is built without libass, so it cannot draw captions.'
  throw new TaskError('burn_in_unavailable', message, { field: FIELD })
}

export function noFonts(): TaskError {
  const message =
    'This transcoder’s machine has no fonts to draw captions with. Its operator can install the packages fonts-noto-core and fonts-noto-cjk.'
  return new TaskError('burn_in_unavailable', message, { field: FIELD })
}

/** At most this many characters are named. */
const NAMED = 20

function glyphMessage(missing: readonly string[]): string {
  const named = missing.slice(0, NAMED).map((character) => {
    const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
    return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `${character} (${code})` : code
  })
  const more = missing.length > NAMED ? ` and ${missing.length - NAMED} more` : ''
  return `No font on this transcoder has ${named.join(', ')}${more}: a box is drawn instead of each.`
}

const CJK_FONTS: Readonly<Record<string, string>> = { ja: 'JP', ko: 'KR' }

/** Han characters look different in Japan, Korea, China and Taiwan; every other script is found by itself. */
export function fontOf({ burnIn = null, captions = [] }: JobSpec, stream: OtherStream | null): string {
  const tag = burnIn?.kind === 'caption' ? (captions[burnIn.caption]?.language ?? null) : (stream?.language ?? null)
  const { language, script, region } = localeOf(tag)
  const standard = 'Noto Sans'
  if (language === 'zh' || language === 'yue') {
    if (script === 'Hant' && region === 'HK') return `${standard} CJK HK`
    return `${standard} CJK ${script === 'Hant' ? 'TC' : 'SC'}`
  }
  const region3 = CJK_FONTS[language ?? '']
  return region3 === undefined ? standard : `${standard} CJK ${region3}`
}

/** The script that a tag leaves out follows from its region: zh-TW is traditional. */
function localeOf(tag: string | null): { language?: string; script?: string | undefined; region?: string | undefined } {
  if (tag === null) return {}
  try {
    return new Intl.Locale(
      tag
        .replace(/^(chi|zho)\b/, 'zh')
        .replace(/^jpn\b/, 'ja')
        .replace(/^kor\b/, 'ko'),
    ).maximize()
  } catch {
    return {}
  }
}
