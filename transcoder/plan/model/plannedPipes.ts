// In charge of: every stream that one run writes to a pipe, in the order of its arguments, after the files of
// plannedFiles.ts.
// Not in charge of: processing the streams (transcoder/segmenter).
import type { Plan, PipePlan } from './plan.ts'

/** Stream number `n` is target number `plannedFiles(plan).length + n` of ffmpegArgs. Empty without packaging. */
export function plannedPipes(plan: Plan): PipePlan[] {
  const { packaging, join } = plan
  if (packaging === null) return []
  return [
    ...packaging.renditions.flatMap(({ forms }, rendition) =>
      forms.map((form): PipePlan => ({ kind: 'rendition', rendition, form })),
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
