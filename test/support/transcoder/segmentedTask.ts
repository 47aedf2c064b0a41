// In charge of: tasks with segmented output against the strict task API, and what a reader of the destination would see
// afterwards.
// Not in charge of: expectations.
import { dirname, join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { Engine } from '../../../transcoder/ffmpeg/locate.ts'
import { listSegments } from '../manifests/playlistSegments.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'
import { describeTask, type TaskDescription } from './attemptFixture.ts'

/** `changes` as in a job body; writes below `out`, with segments of 2 s and GOPs of 1 s. */
export function segmentedTask(changes: Partial<JobConfig>, bitrates: number[] = [300]): TaskDescription {
  const task = describeTask({ container: 'mp4', bitrates })
  const profiles = task.config.videoProfiles.map((profile) => ({ ...profile, output: '' }))
  const common = { bucket_output_path: 'out', segment_length: 2, videoProfiles: profiles }
  return { ...task, config: { ...task.config, ...common, ...changes } }
}

/** Every object in the destination after the commit, by path. */
export function storedObjects(taskApi: FakeTaskApi): Map<string, Buffer> {
  const written = taskApi.finished?.written ?? []
  return new Map([
    ...taskApi.outputs,
    ...taskApi.objects(),
    ...written.map(({ path, body }) => [path, Buffer.from(body)] as const),
  ])
}

/** Init segment and segments of a media playlist, concatenated as a player does. */
export function joinedSegments(objects: ReadonlyMap<string, Buffer>, playlist: string): Buffer {
  const text = objects.get(playlist)?.toString('utf8')
  if (text === undefined) throw new Error(`no ${playlist} among ${[...objects.keys()].join(' ')}`)
  return Buffer.concat(
    listSegments(text).map(({ uri, range }) => {
      const bytes = objects.get(join(dirname(playlist), decodeURIComponent(uri)))
      if (bytes === undefined) throw new Error(`${playlist} names ${uri}, which is not there`)
      return range === null ? bytes : bytes.subarray(range.offset, range.offset + range.bytes)
    }),
  )
}

/** Number of frames that decode, of a file with or without audio. Throws if the decoder reports an error. */
export async function countFrames(engine: Engine, file: string): Promise<number> {
  const words = `-nostdin -v error -i ${file} -map 0:v -fps_mode passthrough -f framemd5 -`.split(' ')
  const { stdout, stderr } = await promisify(execFile)(engine.ffmpeg, words)
  if (stderr !== '') throw new Error(stderr)
  return stdout.split('\n').filter((line) => /^\d/.test(line)).length
}

/** Seconds of audio that decode. Throws if the decoder reports an error. */
export async function countAudioSamples(engine: Engine, file: string): Promise<number> {
  const words = ['-nostdin', '-v', 'error', '-i', file, '-map', '0:a', '-f', 's16le', '-ac', '1', '-ar', '8000', '-']
  const options = { encoding: 'buffer', maxBuffer: 2 ** 28 } as const
  const { stdout, stderr } = await promisify(execFile)(engine.ffmpeg, words, options)
  if (stderr.length > 0) throw new Error(stderr.toString())
  return stdout.length / 16_000
}
