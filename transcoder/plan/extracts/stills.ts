// In charge of: the frames and names of stills.
// Not in charge of: their size (planExtracts.ts), reading and storing them (transcoder/extracts).
import { MAX_STILLS } from '#contract/limits.ts'
import { stillPath, stillTypes } from '#contract/job/paths/extractNames.ts'
import type { StillsSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { StillsPlan } from '#contract/task/plan/extractsPlan.ts'
import type { PlanContext } from '../planContext.ts'
import { frameAt, secondsOf, type FrameTimeline } from './timeline.ts'
import { unavailable } from './unavailableFormat.ts'

export function planStills(
  context: PlanContext,
  timeline: FrameTimeline,
  sizeOf: (element: StillsSpec) => { width: number; height: number },
): StillsPlan[] {
  const { spec, features } = context
  const planned = spec.stills.map((element): StillsPlan => {
    const { index, format, quality } = element
    const field = `stills[${index}]`
    if (format === 'webp' && !features.webp) throw unavailable(`${field}.format`, format, ['jpeg'])
    if (format === 'avif' && !features.avif)
      throw unavailable(`${field}.format`, format, features.webp ? ['jpeg', 'webp'] : ['jpeg'])
    const frames = framesOf(context, element, timeline)
    return {
      index,
      format,
      contentType: stillTypes[format],
      quality,
      ...sizeOf(element),
      images: frames.map((frame, at) => ({ path: stillPath(spec, element, at + 1), frame })),
    }
  })
  const total = planned.reduce((sum, { images }) => sum + images.length, 0)
  if (total > MAX_STILLS) throw tooMany(spec.stills, timeline, total)
  return planned.filter(({ images }) => images.length > 0)
}

/** In the order of their times. */
function framesOf(context: PlanContext, { index, times }: StillsSpec, timeline: FrameTimeline): number[] {
  const field = `stills[${index}]`
  const { seconds, frames } = timeline
  if (times.kind === 'at') {
    const wanted = times.at.map((time) => frameAt(secondsOf(time, timeline, `${field}.at_seconds`), timeline))
    const kept = wanted.filter((frame) => frames === null || frame < frames)
    const missing = wanted.length - kept.length
    if (missing > 0)
      context.warn({
        code: 'stills_left_out',
        field: `${field}.at_seconds`,
        message: `${missing} of ${wanted.length} stills are left out: their times are after the end of the outputs${seconds === null ? '' : ` (${Number(seconds.toFixed(3))} s)`}.`,
      })
    return kept.toSorted((a, b) => a - b)
  }
  if (times.kind === 'every') {
    const count = seconds === null ? MAX_STILLS : Math.ceil(seconds / times.seconds)
    return Array.from({ length: Math.max(1, count) }, (_, n) => frameAt(n * times.seconds, timeline)).filter(
      (frame) => frames === null || frame < frames,
    )
  }
  if (seconds === null || frames === null)
    throw new TaskError(
      'unsupported_combination',
      `${field}.count needs a source that states its length, and this one does not; use every_seconds.`,
      { field: `${field}.count` },
    )
  return Array.from({ length: times.count }, (_, n) =>
    Math.min(frames - 1, frameAt((seconds * (n + 0.5)) / times.count, timeline)),
  )
}

/** `every_seconds` of a long source. */
function tooMany(elements: readonly StillsSpec[], { seconds }: FrameTimeline, total: number): TaskError {
  const repeated = elements.find(({ times }) => times.kind === 'every')
  const least = seconds === null ? null : Math.ceil((seconds / MAX_STILLS) * 10) / 10
  const advice =
    least === null || elements.length > 1 ? 'use a longer every_seconds' : `use every_seconds ${least} or more`
  return new TaskError(
    'unsupported_combination',
    `The stills of this source would be ${total} images; a job makes at most ${MAX_STILLS}: ${advice}.`,
    {
      field: repeated === undefined ? 'stills' : `stills[${repeated.index}].every_seconds`,
      details: { images: total, maximum: MAX_STILLS },
    },
  )
}
