// In charge of: tasks that make stills, an animated preview or a waveform, with the defaults that validation gives them.
// Not in charge of: expectations.
import { readFile } from 'node:fs/promises'
import { validateJob } from '#contract/job/validateJob.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import { describeTask, runRequest, type AttemptFixture, type TaskDescription } from './attemptFixture.ts'
import { FakeTaskApi } from './fakeTaskApi.ts'

/** `members` as in a request; `video` false = a job that makes nothing else. */
export function extractTask(members: object, { video = true }: { video?: boolean } = {}): TaskDescription {
  const task = describeTask({ container: 'mp4' })
  const validation = validateJob(
    {
      input: 'https://example.com/clip.mp4',
      cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
      ...(video
        ? {
            videoProfiles: [{ output: 'v0.mp4', width: 192, height: 48, video_bitrate: 400 }],
            audioProfiles: [{ audio_bitrate: 96, source_stream: 1 }],
          }
        : {}),
      ...members,
    },
    { baseUrl: 'http://127.0.0.1' },
  )
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems))
  return { ...task, config: validation.config }
}

export interface ExtractRun {
  taskApi: FakeTaskApi
  objects: Map<string, Buffer>
}

/** Runs one attempt against a task API of its own, which the caller stops. */
export async function runExtracts(
  fixture: AttemptFixture,
  source: string,
  task: TaskDescription,
  { ranges = true }: { ranges?: boolean } = {},
): Promise<ExtractRun> {
  const taskApi = await new FakeTaskApi().start()
  taskApi.source = { bytes: await readFile(source), ...(ranges ? {} : { ranges: false }) }
  taskApi.task = task
  await runTask(runRequest(taskApi), fixture.context())
  return { taskApi, objects: taskApi.objects() }
}
