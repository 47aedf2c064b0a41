// In charge of: a job that is divided, for tests with stand-in transcoders: its body, its plan, its first parts.
// Not in charge of: what parts do (fakeTranscoder.ts).
import { expect } from 'vitest'
import { parseTaskId } from '#contract/taskId.ts'
import type { FakeAttempt } from './fakeTranscoder.ts'
import { startJob, startNextAttempt } from './jobFixture.ts'
import { taskPlan } from './taskPlan.ts'

export const HLS_JOB = {
  output_container: 'hls',
  bucket_output_path: 'hls',
  audio_output_path: 'sound',
  videoProfiles: [{ output: '', width: 640, height: 360, video_bitrate: 600 }],
  audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1 }],
}

/** An output that a part may store: the others are of the last attempt. */
export const SOUND = ['sound/a_audio_0.m4a', 'audio/mp4'] as const

/** The name of an object for the last attempt. */
export const workOf = ({ run }: FakeAttempt, file = 'video_0.1'): string =>
  `${parseTaskId(run.task_id).number}-${run.attempt}/${file}`

/** The body of `POST /plan`. */
export const HLS_PLAN = { plan: taskPlan('', { outputs: [] }), warnings: [] }

/** Of a job whose samples are a sixteenth of its work. */
export const SURVEYED_PLAN = {
  plan: taskPlan('', { outputs: [], division: { chunks: [0, 1], seconds: 150, samplingSeconds: 10 } }),
  warnings: [],
}

export const MASTER_PLAYLIST = {
  path: 'hls/master.m3u8',
  body: '#EXTM3U\n',
  stage: 2,
  content_type: 'application/vnd.apple.mpegurl',
  profile: null,
  role: 'manifest',
} as const

interface DividedJob {
  id: number
  main: FakeAttempt
  /** As many as are at work at the same time. */
  parts: [FakeAttempt, FakeAttempt]
}

/** A job that has just been divided, and the attempts at the parts that can start, in their order. */
export async function startDividedJob(parts: number, options: { survey?: true } = {}): Promise<DividedJob> {
  const { id, attempt: main } = await startJob(HLS_JOB)
  expect((await main.taskApi('POST', '/plan', options.survey ? SURVEYED_PLAN : HLS_PLAN)).status).toBe(200)
  expect((await main.divide(parts, options)).status).toBe(200)
  const begun = [await startNextAttempt(), await startNextAttempt()]
  const [first, second] = begun.toSorted((a, b) => (a.part ?? 0) - (b.part ?? 0))
  return { id, main, parts: [first!, second!] }
}
