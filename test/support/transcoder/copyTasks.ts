// In charge of: attempts at jobs that copy streams, and what their outputs have in common with the source.
// Not in charge of: expectations about single outputs.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Estimate } from '#contract/task/dryRunEstimate.ts'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import { ffmpeg } from '../media/media.ts'
import { makeNumberedClip } from '../media/numberedClip.ts'
import type { HashedPacket } from '../media/packetHashes.ts'
import {
  describeTask,
  openAttemptFixture,
  runRequest,
  type AttemptFixture,
  type TaskDescription,
} from './attemptFixture.ts'
import { FakeTaskApi } from './fakeTaskApi.ts'
import { segmentedTask, storedObjects } from './segmentedTask.ts'

export interface CopyAttempts {
  path: (name: string) => string
  /** Runs the task with that clip as its source; returns the stored objects. */
  attempt: (source: string, task: TaskDescription) => Promise<Map<string, Buffer>>
  /** The error of the attempt; empty = none. */
  failure: () => { code?: string; message?: string }
  warnings: () => string[]
  /** The purposes of the programs that were run, where the task accepts a log. */
  runs: () => string[]
  /** Of a dry run. */
  estimate: () => Estimate | undefined
}

/** Call in a describe block. `closed.mp4`, `.ts` and `.mkv` have 300 numbered frames in closed GOPs of 40. */
export function useCopyAttempts(): CopyAttempts {
  let fixture: AttemptFixture
  let taskApi: FakeTaskApi
  const path = (name: string): string => join(fixture.directory, name)
  beforeAll(async () => {
    fixture = await openAttemptFixture()
    await makeNumberedClip(path('closed.mp4'), { seconds: 12, video: ['-bf', '2', '-g', '40', '-sc_threshold', '0'] })
    await ffmpeg(['-y', '-i', path('closed.mp4'), '-c', 'copy', path('closed.ts')])
    await ffmpeg(['-y', '-i', path('closed.mp4'), '-c', 'copy', path('closed.mkv')])
  })
  afterAll(() => fixture.remove())
  beforeEach(async () => {
    taskApi = await new FakeTaskApi().start()
  })
  afterEach(() => taskApi.stop())
  return {
    path,
    attempt: async (source, task) => {
      taskApi.source = { bytes: await readFile(path(source)) }
      taskApi.task = task
      await runTask(runRequest(taskApi), fixture.context())
      return storedObjects(taskApi)
    },
    failure: () => taskApi.fails[0]?.error ?? {},
    estimate: () => taskApi.estimated?.estimate,
    runs: () => (taskApi.logs.at(-1)?.commands ?? []).map(({ purpose }) => purpose),
    warnings: () => (taskApi.finished?.warnings ?? []).map(({ code }) => code),
  }
}

/** All profiles are copied. */
export function copyTask(change: Partial<JobConfig>, isSegmented = false): TaskDescription {
  const container = change.output_container === 'ts' ? 'ts' : 'mp4'
  const task = isSegmented ? segmentedTask({}) : describeTask({ container })
  const { videoProfiles, audioProfiles } = task.config
  return {
    ...task,
    config: {
      ...task.config,
      videoProfiles: videoProfiles.map((profile) => ({ ...profile, video_codec: 'copy' })),
      audioProfiles: audioProfiles.map((profile) => ({ ...profile, audio_codec: 'copy' })),
      ...change,
    },
  }
}

export const hashes = (packets: readonly HashedPacket[]): string[] => packets.map(({ hash }) => hash)

/** The same packets, all moved by the same time. */
export function expectSamePackets(output: HashedPacket[], source: HashedPacket[], toleranceSeconds = 0.0011): void {
  expect(hashes(output)).toEqual(hashes(source))
  const shift = output[0]!.time - source[0]!.time
  for (const [at, { time }] of output.entries())
    expect(Math.abs(time - source[at]!.time - shift)).toBeLessThan(toleranceSeconds)
}

interface Playlist {
  seconds: number[]
  target: number
}

export function readPlaylist(objects: ReadonlyMap<string, Buffer>, name: string): Playlist {
  const text = objects.get(name)!.toString()
  return {
    seconds: [...text.matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds)),
    target: Number(/#EXT-X-TARGETDURATION:(\d+)/.exec(text)?.[1]),
  }
}
