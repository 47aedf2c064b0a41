// In charge of: real clips, real tasks and a real ffmpeg for tests of whole runs.
// Not in charge of: expectations.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validateJob } from '#contract/job/validateJob.ts'
import { MAIN_TASK, taskIdOf } from '#contract/taskId.ts'
import { TASK_PROTOCOL, type RunRequest, type TaskDescription as SentTask } from '#contract/task/protocol.ts'
import type { Engine } from '../../../transcoder/ffmpeg/locate.ts'
import { createLog } from '../../../transcoder/log.ts'
import type { RunContext } from '../../../transcoder/runTask.ts'
import { readSettings } from '../../../transcoder/settings.ts'
import { makeClip, testFfmpeg } from '../media/media.ts'
import type { FakeTaskApi } from './fakeTaskApi.ts'

/** Without `spec`, the task API sends the translation of `config`. */
export type TaskDescription = Omit<SentTask, 'spec'> & Partial<Pick<SentTask, 'spec'>>

export interface AttemptFixture {
  engine: Engine
  directory: string
  workDir: string
  /** The log. */
  lines: string[]
  context(): RunContext
  /** Names of the files that the runs left in their work directory. */
  workDirEntries(): Promise<string[]>
  remove(): Promise<void>
}

export async function openAttemptFixture(): Promise<AttemptFixture> {
  const engine = await testFfmpeg()
  const directory = await mkdtemp(join(tmpdir(), 'run-test-'))
  const workDir = join(directory, 'work')
  const lines: string[] = []
  return {
    engine,
    directory,
    workDir,
    lines,
    context: () => ({
      engine,
      settings: { ...readSettings({}), workDir },
      log: createLog((line) => void lines.push(line)),
      controller: new AbortController(),
      source: { backoff: { baseMs: 1, maxMs: 5 }, retryForMs: 2000 },
    }),
    workDirEntries: () => readdir(workDir).catch(() => []),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Bytes of a test video of 320 × 180 at 25 frames per second with a tone. */
export async function makeSourceClip(
  fixture: Pick<AttemptFixture, 'directory'>,
  seconds: number,
  container: 'mp4' | 'ts' = 'mp4',
): Promise<Buffer> {
  const path = join(fixture.directory, `clip-${seconds}.${container}`)
  const making = clips.get(path) ?? makeClip(path, { seconds, audio: [1], flags: ['-g', '25', '-shortest'] })
  clips.set(path, making)
  return readFile(await making)
}

/** By path: tests that ask for the same clip at the same time would write one file twice. */
const clips = new Map<string, ReturnType<typeof makeClip>>()

export interface TaskOptions {
  container: 'mp4' | 'ts'
  /** Kilobits per second of each rendition. */
  bitrates?: number[]
  quality?: 'good' | 'better' | 'best'
}

export function describeTask(options: TaskOptions): TaskDescription {
  const { container, bitrates = [400], quality = 'good' } = options
  const validation = validateJob(
    {
      input: 'https://example.com/clip.mp4',
      output_container: container,
      video_codec: 'h.264',
      h264_quality: quality,
      cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
      videoProfiles: bitrates.map((bitrate, index) => ({
        output: `out/v${index}.${container}`,
        width: 320,
        height: 180,
        video_bitrate: bitrate,
      })),
      audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 96, source_stream: 1 }],
    },
    { baseUrl: 'http://127.0.0.1' },
  )
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems))
  return {
    protocol: TASK_PROTOCOL,
    task_id: 't-0',
    job_id: 'j-1',
    attempt: 1,
    kind: 'transcode',
    config: validation.config,
    plan: null,
    input_name: 'clip.mp4',
    max_attempt_ms: 600_000,
    accepts: { source: false, preview: false, log: false, subtitles: true },
  }
}

/** `number`: of the task in its job. */
export function runRequest(taskApi: FakeTaskApi, attempt = 1, number = MAIN_TASK): RunRequest {
  return {
    protocol: TASK_PROTOCOL,
    task_id: taskIdOf('t', number),
    attempt,
    token: taskApi.token,
    task_api_url: taskApi.url,
  }
}

/** Processes whose command line contains a text: an ffmpeg that outlived its run. */
export async function findFfmpegProcesses(text: string): Promise<number[]> {
  const found: number[] = []
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')
    if (command.includes(text) && command.includes('ffmpeg')) found.push(Number(entry))
  }
  return found
}
