// In charge of: running rows: a job is validated, planned and encoded as in the service, once for all rows that share
// it.
// Not in charge of: what is measured in the outputs (rows/).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { validateJob, type ValidationResult } from '#contract/job/validateJob.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { logoPath, convertLogo } from '../../transcoder/source/logoImage.ts'
import { plannedFiles } from '../../transcoder/plan/model/plannedFiles.ts'
import { createLog } from '../../transcoder/log.ts'
import { runTask } from '../../transcoder/runTask.ts'
import { readSettings } from '../../transcoder/settings.ts'
import { openWorkspace } from '../../transcoder/workspace.ts'
import { encodeJob, probeAndPlan } from '../support/media/encodeJob.ts'
import { makeLogoImage } from '../support/media/testLogo.ts'
import { testFfmpeg, tempDirectory } from '../support/media/media.ts'
import { FakeTaskApi } from '../support/transcoder/fakeTaskApi.ts'
import { storedObjects } from '../support/transcoder/segmentedTask.ts'
import { describeTask, runRequest } from '../support/transcoder/attemptFixture.ts'
import { SOURCE_POSTER, type RowContext, type JobChange, type Measurement, type Row } from './row.ts'
import { sources, type SourceName } from './sourceClips.ts'

export const BASE_URL = 'https://api.example.test'
const VIDEO = { width: 320, height: 180, video_bitrate: 500 }
const AUDIO = { audio_bitrate: 128, source_stream: 1 }

/** The base job with the changes merged in. */
export function bodyOf(job: JobChange): Record<string, unknown> {
  const { videoProfiles = [{}], audioProfiles = [{}], ...rest } = job
  return {
    input: '1',
    cloud_credentials: { input: { cloud_provider: 'file-upload' } },
    ...rest,
    videoProfiles: videoProfiles.map((profile) => ({ ...VIDEO, ...profile })),
    audioProfiles: audioProfiles.map((profile) => ({ ...AUDIO, ...profile })),
  }
}

/** With several threads, encoders distribute bits differently in each run; the document must be reproducible. */
const THREADS = 1

interface Made {
  files: { path: string; file: string }[]
  warnings: string[]
  refusal: { code: string; field: string } | null
}

export interface MatrixRunner extends AsyncDisposable {
  run(row: Row): Promise<Measurement>
  context: (row: Row) => RowContext
  clip: (name: SourceName) => Promise<string>
  directory: string
}

/** A whole attempt at a segmented job, from the task API to the commit. */
async function segments(body: object, source: string, directory: string): Promise<ReadonlyMap<string, Buffer>> {
  const validation = validateJob(body, { baseUrl: BASE_URL })
  if (!validation.ok) throw new Error(validation.problems.map(({ code, field }) => `${code} at ${field}`).join(', '))
  const taskApi = await new FakeTaskApi({ bytes: await readFile(source) }).start()
  try {
    const accepts = { source: false, preview: validation.config.preview !== false, log: false }
    taskApi.task = { ...describeTask({ container: 'mp4' }), config: validation.config, accepts }
    await runTask(runRequest(taskApi), {
      engine: await testFfmpeg(),
      settings: { ...readSettings({}), workDir: join(directory, 'attempts') },
      log: createLog(() => undefined),
      controller: new AbortController(),
    })
    const [failure] = taskApi.fails
    if (failure !== undefined) throw new Error(failure.error?.message ?? failure.reason)
    const previews = taskApi.previews.map((bytes) => [SOURCE_POSTER, bytes] as const)
    return new Map([
      ...[...storedObjects(taskApi)].map(([path, bytes]) => [path.replace(/^show\//, ''), bytes] as const),
      ...previews,
    ])
  } finally {
    await taskApi.stop()
  }
}

export async function openMatrixRunner(): Promise<MatrixRunner> {
  const tempDir = await tempDirectory()
  const { features } = await testFfmpeg()
  const clips = new Map<SourceName, Promise<string>>()
  const jobs = new Map<string, Promise<Made>>()

  function clip(name: SourceName): Promise<string> {
    const making = clips.get(name) ?? sources[name](tempDir.file)
    clips.set(name, making)
    return making
  }

  async function produce(judged: ValidationResult, source: SourceName): Promise<Made> {
    const nothing = { files: [], warnings: [] }
    if (!judged.ok) return { ...nothing, refusal: judged.problems[0]! }
    const spec = toSpec(judged.config, 'clip.mp4')
    const room = await openWorkspace(tempDir.file('work'))
    try {
      const logo =
        spec.logo === null
          ? undefined
          : {
              image: await convertLogo(await testFfmpeg(), await makeLogoImage(tempDir.file('logo.png')), room),
              file: logoPath(room),
            }
      const { plan, outputs } = await encodeJob(spec, await clip(source), tempDir.path, { logo, threads: THREADS })
      const files = plannedFiles(plan).map(({ path }, index) => ({ path, file: outputs[index]! }))
      const warnings = [...judged.warnings, ...plan.warnings].map(({ code }) => code)
      return { files, warnings, refusal: null }
    } catch (error) {
      if (!(error instanceof TaskError)) throw error
      const field = (error as { field?: string }).field ?? ''
      return { ...nothing, refusal: { code: error.code, field } }
    } finally {
      await room.remove()
    }
  }

  function rowContext(row: Row): RowContext {
    const source = row.source ?? 'plain'
    const make = (job: JobChange): Promise<Made> => {
      const key = JSON.stringify([job, source])
      const making = jobs.get(key) ?? produce(validateJob(bodyOf(job), { baseUrl: BASE_URL }), source)
      jobs.set(key, making)
      return making
    }
    const fileOf = async (job: JobChange, output: number): Promise<string> => {
      const { files, refusal } = await make(job)
      const file = files[output]
      if (file === undefined)
        throw new Error(refusal === null ? `no output ${output}` : `${refusal.code} at ${refusal.field}`)
      return file.file
    }
    return {
      features,
      validation: () => validateJob(bodyOf(row.job), { baseUrl: BASE_URL }),
      file: () => fileOf(row.job, row.output ?? 0),
      files: async () => (await make(row.job)).files,
      objects: async () =>
        segments(bodyOf({ ...row.job, bucket_output_path: 'show' }), await clip(source), tempDir.path),
      source: () => clip(source),
      warnings: async () => (await make(row.job)).warnings,
      planWarnings: async (without) => {
        const judged = validateJob(bodyOf(row.job), { baseUrl: BASE_URL })
        if (!judged.ok) throw new Error(judged.problems.map(({ code, field }) => `${code} at ${field}`).join(', '))
        const programs = await testFfmpeg()
        const able = { ...programs.features, ...(without === undefined ? {} : { [without]: false }) }
        const { plan } = await probeAndPlan(
          toSpec(judged.config, 'clip.mp4'),
          await clip(source),
          tempDir.path,
          programs,
          able,
        )
        return [...judged.warnings, ...plan.warnings].map(({ code }) => code)
      },
      rejection: async () => (await make(row.job)).refusal,
      encodeOther: (job) => fileOf(job, 0),
    }
  }

  return {
    context: rowContext,
    clip,
    directory: tempDir.path,
    async run(row) {
      try {
        return await row.measure(rowContext(row))
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        return { measured: `error: ${message.split('\n')[0]}`, ok: false }
      }
    },
    [Symbol.asyncDispose]: () => tempDir[Symbol.asyncDispose](),
  }
}
