// In charge of: a source with cues whose survey finds them, and the job that carries them.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { TaskDescription } from '#contract/task/protocol.ts'
import type { SurveyPlan } from '../../../transcoder/plan/model/divisionPlan.ts'
import type { Plan } from '../../../transcoder/plan/model/plan.ts'
import { ffmpeg, lavfi } from '../media/media.ts'
import { cueAtSeconds, insertCues, makeCueClip } from '../mpegts/cueClips.ts'
import { spliceInsert, timeSignal } from '../mpegts/spliceSections.ts'
import type { AttemptFixture } from './attemptFixture.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'
import { segmentedTask } from './segmentedTask.ts'

const S = 90_000
const cues = [
  cueAtSeconds(0.9, spliceInsert({ eventId: 1, out: true, pts: 2.4 * S })),
  cueAtSeconds(2.3, spliceInsert({ eventId: 1, out: true, pts: 2.4 * S })),
  // At a regular boundary of segments, which is then no place for a chunk to begin.
  cueAtSeconds(3.1, timeSignal(4.08 * S)),
  cueAtSeconds(5, spliceInsert({ eventId: 2, out: false, pts: null }), 'frame'),
]

export const cueSurvey: SurveyPlan = { parts: 3, factors: [], cues: { parts: 3 } }

/** `splice`: the only one, in seconds; missing = several. */
export function makeSurveyedCues(
  { directory }: AttemptFixture,
  { seconds = 8, splice }: { seconds?: number; splice?: number } = {},
): Promise<Buffer> {
  const flags = ['-g', '50', '-bf', '2', '-f', 'mpegts']
  const placed = splice === undefined ? cues : [cueAtSeconds(splice - 1, timeSignal(splice * S))]
  return makeCueClip(join(directory, `surveyed-cues-${seconds}.ts`), { seconds, audio: [1], flags }, placed)
}

export function cueTask(changes: Partial<JobConfig> = {}): TaskDescription {
  const forms = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
  return segmentedTask({ ...forms, scte35_passthough: true, ...changes })
}

/** Long enough for parts to survey it if its loudness is measured, and small. */
export async function makeLongStream({ directory }: AttemptFixture): Promise<Buffer> {
  const path = join(directory, 'long.ts')
  await ffmpeg([
    ...lavfi('color=gray:s=64x64:r=1:d=1600', "aevalsrc='(0.02+0.2*gt(mod(t,80),50))*sin(2*PI*554*t)':s=16000:d=1600"),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '2', '-c:a', 'mp2', '-b:a', '32k', '-muxrate', '400k', path],
  ])
  const every = Array.from({ length: 15 }, (_, index) => 100 * (index + 1))
  const spaced = every.map((at) => cueAtSeconds(at, spliceInsert({ eventId: at, out: true, pts: (at + 4) * S })))
  return insertCues(await readFile(path), spaced, 600)
}

/** Bytes of all requests. One that is ended early counts whole. */
export function requestedBytes({ inputRanges, source }: FakeTaskApi): number {
  return inputRanges.reduce((sum, text) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(text)!
    return sum + Math.min(Number(last), source.bytes.length - 1) - Number(first) + 1
  }, 0)
}

/** The plan as the first attempt leaves it if parts look for cues. */
export function forgetCues({ storedPlan }: FakeTaskApi): void {
  for (const { video } of (storedPlan as Plan).packaging!.renditions) if (video !== null) video.spliceFrames = []
}
