// In charge of: tasks that draw captions, against the strict task API, with plain video as their source.
// Not in charge of: expectations, reading the text back (captions/drawnText.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Warning } from '#contract/errors.ts'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import type { CaptionFields, VideoProfileFields } from '#contract/job/fields/request.ts'
import type { Engine } from '../../../transcoder/ffmpeg/locate.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import { ffmpeg, lavfi } from '../media/media.ts'
import { describeTask, runRequest, type AttemptFixture, type TaskDescription } from './attemptFixture.ts'
import { FakeTaskApi } from './fakeTaskApi.ts'
import { segmentedTask, storedObjects } from './segmentedTask.ts'

export const SIZE = { width: 320, height: 180 }
export const CAPTION: CaptionFields = { input: 'https://h.example/a.srt', language: 'en' }
export const BURN = { burn_in_captions: { captions: 0 } } as const

/** A SubRip file; times in seconds and milliseconds, like "01,200". */
export function srt(...cues: [start: string, end: string, text: string][]): string {
  return cues.map(([start, end, text], index) => `${index + 1}\n00:00:${start} --> 00:00:${end}\n${text}\n`).join('\n')
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

export function profile(width: number, height: number, output = 'out/v0.mp4'): VideoProfileFields {
  return { ...describeTask({ container: 'mp4' }).config.videoProfiles[0]!, width, height, output }
}

interface Source {
  rate?: string
  size?: string
  seconds?: number
  flags?: string[]
  /** Of the file. */
  name?: string
  /** A SubRip file that becomes a subtitle stream. */
  subtitles?: string
}

interface Surroundings {
  isSegmented?: boolean
  kind?: TaskDescription['kind']
  /** The plan of an earlier attempt. */
  plan?: TaskDescription['plan']
  engine?: Engine
  logo?: Buffer
}

export class BurnInTasks {
  readonly #fixture: AttemptFixture
  #clip: Buffer = Buffer.alloc(0)
  /** Of the last attempt. */
  warnings: Warning[] = []
  errors: unknown[] = []
  plans: FakeTaskApi['plans'] = []
  estimated: FakeTaskApi['estimated'] = null

  constructor(fixture: AttemptFixture) {
    this.#fixture = fixture
  }

  get codes(): string[] {
    return this.warnings.map(({ code }) => code)
  }

  path(name: string): string {
    return join(this.#fixture.directory, name)
  }

  /** Dark grey video, with a subtitle stream if there is a text for it. */
  async makeSource({
    rate = '25',
    size = '320x180',
    seconds = 3,
    flags = [],
    name = 'source.mkv',
    subtitles,
  }: Source = {}): Promise<void> {
    const file = this.path(name)
    await writeFile(this.path('source.srt'), subtitles ?? '')
    const stream = ['-i', this.path('source.srt'), '-map', '0:v', '-map', '1:s', '-c:s', 'srt']
    await ffmpeg([
      ...lavfi(`color=0x303030:size=${size}:rate=${rate}:duration=${seconds}`),
      ...(subtitles === undefined ? [] : stream),
      ...flags,
      ...'-c:v libx264 -preset ultrafast -g 25'.split(' '),
      file,
    ])
    await this.useSource(file)
  }

  async useSource(file: string): Promise<void> {
    this.#clip = await readFile(file)
  }

  /** Runs a job with these caption files, and returns its stored objects. */
  async run(
    change: Partial<JobConfig>,
    files: string[] = [],
    { isSegmented = false, kind = 'transcode', plan = null, engine = this.#fixture.engine, logo }: Surroundings = {},
  ): Promise<Map<string, Buffer>> {
    const task = isSegmented ? segmentedTask({ output_container: 'hls' }) : describeTask({ container: 'mp4' })
    const taskApi = await new FakeTaskApi({ bytes: this.#clip }).start()
    try {
      if (logo !== undefined) taskApi.logo = logo
      taskApi.captions = files.map((content) => Buffer.from(content))
      const captions = files.map(() => CAPTION)
      taskApi.task = { ...task, kind, plan, config: { ...task.config, audioProfiles: [], captions, ...change } }
      await runTask(runRequest(taskApi), { ...this.#fixture.context(), engine })
      this.errors = taskApi.fails.map(({ error }) => error)
      this.plans = taskApi.plans
      this.estimated = taskApi.estimated
      this.warnings = taskApi.finished?.warnings ?? []
      return storedObjects(taskApi)
    } finally {
      await taskApi.stop()
    }
  }

  /** The path of a file with one output; fails if the attempt did. */
  async save(objects: ReadonlyMap<string, Buffer>, name: string, as = name.replaceAll('/', '_')): Promise<string> {
    const bytes = objects.get(name)
    if (bytes === undefined) throw new Error(`there is no ${name}: ${JSON.stringify(this.errors)}`)
    await writeFile(this.path(as), bytes)
    return this.path(as)
  }
}
