// In charge of: which test jobs are run, in which order, and what their figures show: a cold start, two jobs on one
// slot, a cancellation, a private address that must be refused.
// Not in charge of: a single job (runTestJob.ts), removing jobs (createdResources.ts).
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Check, Diagnosis } from '#contract/api/diagnosis.ts'
import type { PublicOutput } from '#contract/api/status.ts'
import { NetworkError, ServiceError } from '../../client/clientErrors.ts'
import type { AudioProfile, JobRequest, VideoProfile } from '../../client/jobRequest.ts'
import { createTestClip } from './testClip.ts'
import { fault, runCheck, ok, errorText, skipped, warning } from './checkResult.ts'
import type { TargetStore } from './targetStore.ts'
import {
  timingsOf,
  runTestJob,
  waitForEnd,
  type TestContext,
  type JobTimings,
  type TestJob,
  type TestJobResult,
} from './runTestJob.ts'

/** Maximum extra jobs until two have run on the same slot. */
const MAX_EXTRA_JOBS = 8
/** The metadata service of every cloud: whoever can read it gets the machine's own credentials. */
const PRIVATE_ADDRESS = 'http://169.254.169.254/latest/meta-data/'
/** If the source cannot be reached, that is as good as a refusal. */
const EXPECTED_REFUSALS = ['source_address_refused', 'source_unreachable', 'source_not_found', 'source_forbidden']

const small = { width: 320, height: 180, framesPerSecond: 25, seconds: 3 }
const long = { width: 640, height: 360, framesPerSecond: 25, seconds: 30 }

export interface TestJobOptions {
  /** An additional address for jobs to read from. */
  input: string | null
  stores: readonly TargetStore[]
  /** The service's diagnosis before the jobs; null = not requested. */
  before: Diagnosis | null
}

export interface TestJobReport {
  checks: Check[]
  jobs: JobTimings[]
  figures: Record<string, number>
}

const audioProfile: AudioProfile = { audio_codec: 'aac', audio_channels: '2', audio_bitrate: '96', source_stream: '1' }
const rendition = (height: number, kbps: number, output?: string): VideoProfile => ({
  width: 0,
  height,
  video_bitrate: kbps,
  video_bitrate_mode: 'vbr',
  ...(output === undefined ? {} : { output }),
})

const jobOf = (input: string, change: Partial<JobRequest> = {}): JobRequest => ({
  input,
  videoProfiles: [rendition(180, 400, 'doctor.mp4')],
  audioProfiles: [audioProfile],
  cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  ...change,
})

export async function runTestJobs(bench: TestContext, options: TestJobOptions): Promise<TestJobReport> {
  const made: TestJobReport = { checks: [], jobs: [], figures: {} }
  const { signal } = bench
  const take = ({ check, figures }: TestJobResult): void => {
    made.checks.push(check)
    if (figures) made.jobs.push(figures)
  }
  const run = async (trial: TestJob): Promise<void> => {
    const remedy = 'See docs/troubleshooting.md.'
    let tried: TestJobResult | null = null
    const check = await runCheck(trial.name, remedy, async () => (tried = await runTestJob(bench, trial)).check, signal)
    take(tried ?? { check, figures: null })
  }

  const input = await uploadClip(bench, 'small', small, made)
  if (input === null) return made
  await run({ name: 'mp4', body: jobOf(input), outputs: 1 })
  if (made.jobs.every(({ attempt }) => attempt === null)) {
    made.checks.push(skipped('other jobs', 'Not run: no transcoder accepted the first one.'))
    return made
  }
  await run({ name: 'dry run', body: jobOf(input), dryRun: true, outputs: 0 })
  await run({ name: 'hls', body: hlsOf(input), outputs: 2 })
  if (options.input !== null) {
    const credentials: JobRequest['cloud_credentials'] = {
      input: { cloud_provider: 'http' },
      output: { cloud_provider: 'vendor-store' },
    }
    await run({
      name: 'address',
      body: jobOf(options.input, { audioProfiles: [], cloud_credentials: credentials }),
      outputs: 1,
    })
  }
  for (const store of options.stores) await run(targetStoreJob(bench, input, store))
  const longInput = await uploadClip(bench, 'long', long, made)
  if (longInput !== null) {
    const cancelled = await runCheck(
      'cancel',
      'See docs/troubleshooting.md.',
      () => checkCancel(bench, longInput, made),
      signal,
    )
    made.checks.push(cancelled)
  }
  for (let more = 0; more < MAX_EXTRA_JOBS && jobsOnReusedSlots(made.jobs).length === 0; more++) {
    await run({ name: `dry run ${more + 2}`, body: jobOf(input), dryRun: true, outputs: 0 })
  }
  made.checks.push(checkSlotReuse(made.jobs))
  made.checks.push(await runCheck('egress', 'Set EGRESS = "platform".', () => checkPrivateAddress(bench), signal))
  Object.assign(made.figures, summarize(made.jobs, options.before))
  return made
}

const hlsOf = (input: string): JobRequest =>
  jobOf(input, {
    output_container: 'hls',
    segmented_output_hls: true,
    segment_length: 1,
    videoProfiles: [rendition(180, 400)],
  })

function targetStoreJob(bench: TestContext, input: string, store: TargetStore): TestJob {
  let written: readonly PublicOutput[] = []
  bench.created.addCleanup(() => store.remove(written))
  return {
    name: store.name,
    outputs: 1,
    body: jobOf(input, {
      bucket_output_path: store.outputPath,
      cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: store.credentials },
    }),
    verify: (outputs) => {
      written = outputs
      return store.verify(outputs)
    },
  }
}

/** Uploads the generated clip. */
async function uploadClip(
  bench: TestContext,
  name: string,
  clip: typeof small,
  made: TestJobReport,
): Promise<string | null> {
  const directory = await mkdtemp(join(tmpdir(), 'splicepoint-doctor-'))
  try {
    const bytes = createTestClip(clip)
    const file = join(directory, `doctor-${name}.avi`)
    await writeFile(file, bytes)
    const from = performance.now()
    const upload = await bench.client.upload(file, `doctor-${name}.avi`)
    bench.created.addUpload(upload.uploaded_file_number)
    const seconds = (performance.now() - from) / 1000
    made.figures[`upload_${name}_megabytes_per_second`] = bytes.length / 1e6 / seconds
    return upload.input
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof NetworkError)) throw error
    made.checks.push(fault('upload', errorText(error), 'Uploads must work before test jobs can run.'))
    return null
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Runs a job of some seconds and cancels it while it runs. */
async function checkCancel(bench: TestContext, input: string, made: TestJobReport): Promise<Check> {
  const { client, created: traces, note, signal } = bench
  const remedy = 'See docs/troubleshooting.md.'
  note('job "cancel" …')
  const videoProfiles = [rendition(1080, 4000, 'a.mp4'), rendition(720, 2500, 'b.mp4'), rendition(360, 800, 'c.mp4')]
  const created = await client.create(jobOf(input, { videoProfiles, audioProfiles: [] }))
  const id = created._auto_generated_id_
  traces.addJob(id)
  const patience = performance.now() + bench.timeoutMs
  for (;;) {
    const { job_completed: over, phase } = (await client.read(id)).status
    if (over)
      return warning(
        'cancel',
        'The job had ended before it could be cancelled.',
        'No action is needed: the machine is fast.',
      )
    if (phase === 'transcoding') break
    if (performance.now() > patience) return fault('cancel', 'The job did not start.', remedy)
    await pause(200, null, { signal })
  }
  const from = performance.now()
  await client.cancel(id)
  const job = await waitForEnd(bench, id)
  const seconds = (performance.now() - from) / 1000
  made.jobs.push(timingsOf('cancel', id, (await client.events(id)).events))
  if (job === null) return fault('cancel', 'The job did not end.', remedy)
  made.figures['cancel_seconds'] = seconds
  return job.status.state === 'cancelled' && job.status.outputs.length === 0
    ? ok('cancel', 'A running job was cancelled, and all its objects were removed.', seconds * 1000)
    : fault('cancel', `It ended as ${job.status.state}, with ${job.status.outputs.length} outputs.`, remedy)
}

/** Jobs that ran on a slot after another one. */
function jobsOnReusedSlots(jobs: readonly JobTimings[]): JobTimings[] {
  return jobs.filter(({ slot }, index) => slot !== null && jobs.slice(0, index).some((one) => one.slot === slot))
}

function checkSlotReuse(jobs: readonly JobTimings[]): Check {
  const again = jobsOnReusedSlots(jobs)
  const [first] = again
  if (!first) return skipped('change', 'No slot ran two of the jobs: there are many slots, and any free one is used.')
  const bad = again.find(({ attempt, lost }) => attempt !== 1 || lost > 0)
  return bad
    ? fault(
        'change',
        `"${bad.name}" lost an attempt on slot ${bad.slot}, on which another job had run before.`,
        'The container of the previous job was still running, or its end was counted for the new job. See docs/containers.md.',
      )
    : ok('change', `${again.length} jobs ran on a slot that another job had used, each at its first attempt.`)
}

async function checkPrivateAddress(bench: TestContext): Promise<Check> {
  bench.note('test job with a private address …')
  const credentials: JobRequest['cloud_credentials'] = {
    input: { cloud_provider: 'http' },
    output: { cloud_provider: 'vendor-store' },
  }
  let id: number
  try {
    id = (await bench.client.create(jobOf(PRIVATE_ADDRESS, { cloud_credentials: credentials })))._auto_generated_id_
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) return ok('egress', 'A private address is refused.')
    throw error
  }
  bench.created.addJob(id)
  const job = await waitForEnd(bench, id)
  const code = job?.status.error?.code ?? null
  return job === null || (code !== null && EXPECTED_REFUSALS.includes(code))
    ? ok('egress', `A private address is not reached${code === null ? '' : ` (${code})`}.`)
    : fault(
        'egress',
        `A job reached ${PRIVATE_ADDRESS} (${code ?? 'it succeeded'}).`,
        'Set EGRESS = "platform" and leave ALLOW_PRIVATE_HOSTS empty.',
      )
}

function summarize(jobs: readonly JobTimings[], before: Diagnosis | null): Record<string, number> {
  const figures: Record<string, number> = {}
  const most = (name: string, values: (number | null)[]): void => {
    const known = values.filter((value) => value !== null)
    if (known.length > 0) figures[name] = Math.max(...known)
  }
  const [first] = jobs
  // It is a cold start only if nothing ran before.
  const isCold = before?.settings.transcoders === 'containers' && before.slots.every(({ running }) => running === false)
  if (isCold) most('cold_start_seconds', [first?.seconds.start ?? null])
  else most('first_start_seconds', [first?.seconds.start ?? null])
  most(
    'change_seconds',
    jobsOnReusedSlots(jobs).map(({ seconds }) => seconds.start),
  )
  most(
    'probe_seconds',
    jobs.map(({ seconds }) => seconds.probe),
  )
  most(
    'commit_seconds',
    jobs.map(({ seconds }) => seconds.commit),
  )
  return figures
}
