// In charge of: running rows on divided jobs, with the measurements and expectations of undivided ones.
// Not in charge of: making one divided job (dividedRun.ts), rows by one task (runner.ts), the document (dividedDocument.ts).
import { writeFile } from 'node:fs/promises'
import { validateJob } from '#contract/job/validateJob.ts'
import { plannedFiles } from '../../transcoder/plan/model/plannedFiles.ts'
import { makeLogoImage } from '../support/media/testLogo.ts'
import { BESIDE, chunkSeconds, clipOf, jobInForm, nextForm, UNCHANGED, type DividedForm } from './dividedForms.ts'
import { runDivided, type DividedOutputs } from './dividedRun.ts'
import type { JobChange, Row, RowContext } from './row.ts'
import { BASE_URL, bodyOf, openMatrixRunner } from './runner.ts'

export interface DividedFinding {
  /** nothing to divide: the row makes no outputs. */
  verdict: 'pass' | 'fail' | 'one task' | 'nothing to divide'
  /** What was measured, or why one task makes the job. */
  words: string
}

export interface DividedRunner extends AsyncDisposable {
  run(row: Row): Promise<DividedFinding>
}

class OneTask extends Error {}

interface Made extends DividedOutputs {
  files: { path: string; file: string }[]
  form: DividedForm
  /** Why one task makes the job as the row has it; null = it was not changed. */
  firstReason: string | null
}

interface Refused {
  refusal: { code: string; field: string }
}

export async function openDividedRunner(): Promise<DividedRunner> {
  const undivided = await openMatrixRunner()
  const { directory } = undivided
  const jobs = new Map<string, Promise<Made | Refused>>()
  let runs = 0

  async function produce(row: Row, job: JobChange): Promise<Made | Refused> {
    if (job['max_chunk_seconds'] === 0) throw new OneTask('the job asks for one task')
    let form = UNCHANGED
    let firstReason: string | null = null
    for (;;) {
      const made = await makeInForm(row, job, form, chunkSeconds(row))
      if ('files' in made) return { ...made, firstReason }
      if ('refusal' in made) {
        if (firstReason !== null) throw new OneTask(firstReason)
        return made
      }
      const reason = made.oneTask === '' ? 'the clip is one chunk' : made.oneTask
      firstReason ??= reason
      const next = nextForm(job, form, made.oneTask)
      if (next === null) throw new OneTask(reason)
      form = next
    }
  }

  async function makeInForm(
    row: Row,
    job: JobChange,
    form: DividedForm,
    longestChunk: number,
  ): Promise<Made | Refused | { oneTask: string }> {
    const judged = validateJob(bodyOf(jobInForm(job, form)), { baseUrl: BASE_URL })
    if (!judged.ok) return { refusal: judged.problems[0]! }
    runs += 1
    const room = `${directory}/${runs}`
    const made = await runDivided({
      config: judged.config,
      source: await undivided.clip(clipOf(row)),
      logo: await makeLogoImage(`${directory}/divided-logo.png`),
      workDir: `${directory}/divided`,
      chunkSeconds: longestChunk,
    })
    if ('refused' in made) return { refusal: made.refused }
    if (!('objects' in made)) return made
    const files = await storedFiles(made, room)
    return { ...made, files, warnings: [...ownWarnings(job), ...made.warnings], form, firstReason: null }
  }

  function make(row: Row, job: JobChange): Promise<Made | Refused> {
    const key = JSON.stringify([job, row.source])
    const making = jobs.get(key) ?? produce(row, job)
    jobs.set(key, making)
    return making
  }

  /** Measures the row on the jobs that `jobOf` makes. `made` is the first of them; null = none. */
  async function measure(
    row: Row,
    jobOf: (job: JobChange) => Promise<Made | Refused>,
  ): Promise<{ measured: string; ok: boolean; made: Made | null }> {
    let first: Made | null = null
    const madeOf = async (job: JobChange): Promise<Made> => {
      const found = await jobOf(job)
      if ('refusal' in found) throw new Error(`${found.refusal.code} at ${found.refusal.field}`)
      first ??= found
      return found
    }
    const base = undivided.context(row)
    const context: RowContext = {
      ...base,
      source: () => undivided.clip(clipOf(row)),
      file: async () => fileOf(await madeOf(row.job), row.output ?? 0),
      files: async () => (await madeOf(row.job)).files,
      objects: async () => belowShow(await madeOf({ ...row.job, bucket_output_path: 'show' })),
      warnings: async () => (await madeOf(row.job)).warnings,
      rejection: async () => {
        const found = await jobOf(row.job)
        return 'refusal' in found ? found.refusal : null
      },
      encodeOther: async (job) =>
        madeOf(job).then(
          (other) => fileOf(other, 0),
          (error: unknown) => (error instanceof OneTask ? base.encodeOther(job) : Promise.reject(error as Error)),
        ),
    }
    try {
      return { ...(await (row.divided?.measure ?? row.measure)(context)), made: first }
    } catch (error) {
      if (error instanceof OneTask) throw error
      const message = error instanceof Error ? error.message : String(error)
      return { measured: `error: ${message.split('\n')[0]}`, ok: false, made: first }
    }
  }

  /** Whether what is wrong is the change of the job: one task makes the same of it. */
  async function isOfForm(row: Row, form: DividedForm): Promise<boolean> {
    const { ok } = await measure(row, async (job) => {
      const made = await makeInForm(row, job, form, 0)
      if ('oneTask' in made) throw new Error('one task makes no outputs')
      return made
    })
    return !ok
  }

  async function run(row: Row): Promise<DividedFinding> {
    try {
      const { measured, ok, made } = await measure(row, (job) => make(row, job))
      if (made === null) return { verdict: 'nothing to divide', words: measured }
      const { form, firstReason } = made
      if (!ok && firstReason !== null && (await isOfForm(row, form))) return { verdict: 'one task', words: firstReason }
      return { verdict: ok ? 'pass' : 'fail', words: measured }
    } catch (error) {
      if (error instanceof OneTask) return { verdict: 'one task', words: error.message }
      throw error
    }
  }

  return { run, [Symbol.asyncDispose]: () => undivided[Symbol.asyncDispose]() }
}

function fileOf({ files }: Made, output: number): string {
  const file = files[output]
  if (file === undefined) throw new Error(`no output ${output}`)
  return file.file
}

/** Without those of the changes that divide the job. */
function ownWarnings(job: JobChange): string[] {
  const judged = validateJob(bodyOf(job), { baseUrl: BASE_URL })
  return judged.ok ? judged.warnings.map(({ code }) => code) : []
}

/** Without the video that the form adds. */
function belowShow({ objects, form }: Made): Map<string, Buffer> {
  const named = [...objects].map(([path, bytes]) => [path.replace(/^show\//, ''), bytes] as const)
  return new Map(named.filter(([path]) => !form.besideVideo || path !== BESIDE))
}

async function storedFiles({ objects, plan }: DividedOutputs, room: string): Promise<Made['files']> {
  const found = plannedFiles(plan).flatMap(({ path }) => {
    const bytes = objects.get(path)
    return bytes === undefined ? [] : [{ path, bytes }]
  })
  return Promise.all(
    found.map(async ({ path, bytes }, index) => {
      const file = `${room}_${index}.${path.split('.').at(-1)}`
      await writeFile(file, bytes)
      return { path, file }
    }),
  )
}
