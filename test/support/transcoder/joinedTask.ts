// In charge of: tasks with `inputs` against the strict task API, and where each frame and sample of numbered clips should
// be in what they make.
// Not in charge of: the clips (media/numberedClip.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import { describeTask, runRequest, type AttemptFixture, type TaskDescription } from './attemptFixture.ts'
import { FakeTaskApi } from './fakeTaskApi.ts'
import { segmentedTask, storedObjects } from './segmentedTask.ts'

export interface Part {
  file: string
  start?: number
  end?: number
  streams?: Record<string, '1' | '2' | null>
}

export class JoinedTasks {
  readonly fixture: AttemptFixture
  #api: FakeTaskApi | null = null

  constructor(fixture: AttemptFixture) {
    this.fixture = fixture
  }

  get taskApi(): FakeTaskApi {
    return this.#api!
  }

  /** Codes of the plan's warnings. */
  get warnings(): string[] {
    return this.taskApi.plans[0]?.warnings.map(({ code }) => code) ?? []
  }

  path(name: string): string {
    return join(this.fixture.directory, name)
  }

  async stop(): Promise<void> {
    await this.#api?.stop()
    this.#api = null
  }

  /** One attempt, with a task API of its own. */
  async attempt(
    parts: readonly Part[],
    change: Partial<JobConfig> = {},
    {
      segmented = false,
      captions = [],
      ...more
    }: { segmented?: boolean; captions?: Buffer[] } & Partial<
      Pick<TaskDescription, 'kind' | 'max_source_seconds'>
    > = {},
  ): Promise<void> {
    await this.stop()
    const taskApi = await new FakeTaskApi().start()
    this.#api = taskApi
    const bytes = new Map<string, Buffer>()
    for (const { file } of parts) if (!bytes.has(file)) bytes.set(file, await readFile(this.path(file)))
    const [first, ...further] = parts.map(({ file }) => ({ bytes: bytes.get(file)! }))
    taskApi.source = first!
    taskApi.furtherSources = further
    taskApi.captions = captions
    const task = segmented
      ? segmentedTask({})
      : describeTask({ container: change.output_container === 'ts' ? 'ts' : 'mp4' })
    const videoProfiles = task.config.videoProfiles.map((profile) => ({ ...profile, width: 192, height: 48 }))
    const { input: _input, ...config } = task.config
    const inputs = parts.map(({ file, start, end, streams }) => ({
      input: `https://example.com/${file}`,
      ...(start === undefined ? {} : { start_seconds: start }),
      ...(end === undefined ? {} : { end_seconds: end }),
      ...(streams === undefined ? {} : { source_streams: streams }),
    }))
    taskApi.task = { ...task, ...more, config: { ...config, inputs, videoProfiles, ...change } }
    await runTask(runRequest(taskApi), this.fixture.context())
  }

  /** The objects of an attempt that succeeds. */
  async run(
    parts: readonly Part[],
    change: Partial<JobConfig> = {},
    segmented = false,
    captions: Buffer[] = [],
  ): Promise<Map<string, Buffer>> {
    await this.attempt(parts, change, { segmented, captions })
    const wrong = [...this.taskApi.fails, ...this.taskApi.breaches]
    if (wrong.length > 0) throw new Error(JSON.stringify(wrong, null, 2))
    return storedObjects(this.taskApi)
  }
}

/** Of clips at 25 frames per second that last `seconds`. */
export function expectedFrames(parts: readonly Part[], seconds: number): number[] {
  return parts.flatMap(({ start = 0, end = seconds }) => {
    const [first, last] = [Math.round(start * 25), Math.min(seconds * 25, Math.round(end * 25))]
    return Array.from({ length: last - first }, (_, index) => first + index)
  })
}

/** In each piece, just behind its fade and well before the next one. */
export function audioPlaces(parts: readonly Part[], seconds: number): { place: number; origin: number }[] {
  let at = 0
  return parts.flatMap((part) => {
    const frames = expectedFrames([part], seconds)
    const [place, origin, samples] = [at, frames[0]! * 1920, frames.length * 1920]
    at += samples
    return [2400, samples - 9600].map((offset) => ({ place: place + offset, origin: origin + offset }))
  })
}
