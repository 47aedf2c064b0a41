// In charge of: which of the source's teletext and DVB subtitles a transport stream carries unchanged.
// Not in charge of: captions inside the video (captionPlan.ts), text subtitles (textSubtitles.ts), dropped streams
// (droppedStreams.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { fileContainerOf, fileRules } from '../forms.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { SubtitlePlan } from '#contract/task/plan/plan.ts'

const kinds: Record<string, SubtitlePlan['kind']> = { dvb_teletext: 'teletext', dvb_subtitle: 'subtitles' }
/** The rate of a full teletext service, and the leak rate of a decoder of DVB subtitles (EN 300 743, 5.1). */
const RESERVED_KBPS: Record<SubtitlePlan['kind'], number> = { teletext: 400, subtitles: 200 }
const LANGUAGES = /^[a-z]{3}(,[a-z]{3})*$/

/** Only DVB receivers read them, and only a transport stream can describe them. */
export function planCopiedSubtitles(spec: JobSpec, media: MediaInfo): SubtitlePlan[] {
  const container = fileContainerOf(spec)
  if (container === null || !fileRules[container].hasService || spec.service.profile !== 'dvb') return []
  if (!media.formats.includes('mpegts')) return []
  return media.other.flatMap(({ id, codec, language }) => {
    const kind = kinds[codec]
    if (kind === undefined || id === null) return []
    return { pid: id, kind, languages: language !== null && LANGUAGES.test(language) ? language : null }
  })
}

export function copiedSubtitleKbps(subtitles: readonly SubtitlePlan[]): number {
  return subtitles.reduce((sum, { kind }) => sum + RESERVED_KBPS[kind], 0)
}
