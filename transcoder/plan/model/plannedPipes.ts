// In charge of: every stream that one run writes to a pipe, in the order of its arguments, after the files of
// plannedFiles.ts.
// Not in charge of: processing the streams (transcoder/segmenter).
import { makesRendition } from './encodedRange.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import type { AnimatedPreviewPlan, StillsPlan, WaveformPlan } from '#contract/task/plan/extractsPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

/** The content of one pipe with frames or samples of which a file is made. */
export type ExtractPipe =
  /** `element`: its position in `stills` of the plan. */
  | { kind: 'still'; element: number; still: StillsPlan }
  | { kind: 'preview'; preview: AnimatedPreviewPlan }
  | { kind: 'waveform'; waveform: WaveformPlan }

/** The content of one pipe from ffmpeg. */
export type PipePlan =
  | { kind: 'rendition'; rendition: number; form: SegmentForm }
  /** The source's video unchanged, in a transport stream, from which the captions are read. */
  | { kind: 'captions' }
  /** A text subtitle stream as WebVTT; `track` is its position in `subtitles`. */
  | { kind: 'subtitles'; track: number }
  /** One JPEG after another: sheets of thumbnails; the poster. */
  | { kind: 'thumbnails' }
  | { kind: 'poster' }

/** They follow those of `plannedPipes`. */
export function extractPipes({ extracts }: Pick<Plan, 'extracts'>): ExtractPipe[] {
  if (extracts === null) return []
  const { stills, preview, waveform } = extracts
  return [
    ...stills.map((still, element): ExtractPipe => ({ kind: 'still', element, still })),
    ...(preview === null ? [] : [{ kind: 'preview', preview } as const]),
    ...(waveform === null ? [] : [{ kind: 'waveform', waveform } as const]),
  ]
}

/** Stream number `n` is target number `plannedFiles(plan).length + n` of ffmpegArgs. Empty without packaging. */
export function plannedPipes(plan: Plan): PipePlan[] {
  const { packaging } = plan
  // Of pieces, the text is read by the processes that decode them.
  const isText = plan.reads.kind !== 'pieces'
  if (packaging === null) return []
  return [
    ...packaging.renditions.flatMap((each, rendition) =>
      makesRendition(plan, each) ? each.forms.map((form): PipePlan => ({ kind: 'rendition', rendition, form })) : [],
    ),
    // The pieces of a joined source are read by processes of their own (argv/pieceArgs.ts).
    ...(packaging.textTracks && isText ? [{ kind: 'captions' } as const] : []),
    ...(isText ? packaging.subtitles : []).map((_subtitles, track): PipePlan => ({
      kind: 'subtitles',
      track,
    })),
    ...(packaging.thumbnails === null ? [] : ([{ kind: 'thumbnails' }, { kind: 'poster' }] as const)),
  ]
}
