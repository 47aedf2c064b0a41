// In charge of: every stream that one run writes to a pipe, in the order of its arguments, after the files of
// plannedFiles.ts.
// Not in charge of: processing the streams (transcoder/segmenter).
import { makesRendition } from './partFrames.ts'
import type { ExtractPipe, Plan, PipePlan } from './plan.ts'

/** They follow those of `plannedPipes`. */
export function extractPipes({ extracts }: Pick<Plan, 'extracts'>): ExtractPipe[] {
  if (extracts == null) return []
  return [
    ...extracts.stills.map((_still, element): ExtractPipe => ({ kind: 'still', element })),
    ...(extracts.preview === null ? [] : [{ kind: 'preview' } as const]),
    ...(extracts.waveform === null ? [] : [{ kind: 'waveform' } as const]),
  ]
}

/** Stream number `n` is target number `plannedFiles(plan).length + n` of ffmpegArgs. Empty without packaging. */
export function plannedPipes(plan: Plan): PipePlan[] {
  const { packaging, join } = plan
  if (packaging === null) return []
  return [
    ...packaging.renditions.flatMap((each, rendition) =>
      makesRendition(plan, each) ? each.forms.map((form): PipePlan => ({ kind: 'rendition', rendition, form })) : [],
    ),
    // The pieces of a joined source are read by processes of their own (argv/pieceArgs.ts).
    ...(packaging.textTracks && join === undefined ? [{ kind: 'captions' } as const] : []),
    ...(join === undefined ? (packaging.subtitles ?? []) : []).map((_subtitles, track): PipePlan => ({
      kind: 'subtitles',
      track,
    })),
    ...(packaging.thumbnails === null ? [] : ([{ kind: 'thumbnails' }, { kind: 'poster' }] as const)),
  ]
}
