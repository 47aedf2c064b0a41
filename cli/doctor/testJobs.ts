// In charge of: the test job, a generated clip that becomes an mp4, and the ones that an address or a store adds. Each
// is created and followed; its outputs are downloaded and compared with what was announced.
// Not in charge of: removing them (createdResources.ts).
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JobRead, PublicEvent } from '#contract/api/answers.ts'
import type { Check } from '#contract/api/diagnosis.ts'
import type { PublicOutput } from '#contract/api/status.ts'
import { NetworkError, ServiceError } from '../../client/clientErrors.ts'
import { download } from '../../client/download/downloadFile.ts'
import { follow } from '../../client/followJob.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import type { Client } from '../../client/nodeClient.ts'
import { errorText, fault, ok, runCheck } from './checkResult.ts'
import type { CreatedResources } from './createdResources.ts'
import type { TargetStore } from './targetStore.ts'
import { createTestClip } from './testClip.ts'

const POLL_MS = 500
const LOST =
  'See "Common situations" in docs/troubleshooting.md, and the log of the Worker and of the container (npm run cloudflare -- tail; [observability]). During a rollout, run this again afterwards.'

export interface TestContext {
  client: Client
  created: CreatedResources
  signal: AbortSignal
  /** Time limit of one job. */
  timeoutMs: number
  note: (text: string) => void
}

export interface TestJobOptions {
  /** An address that one more job reads; null = none. */
  input: string | null
  stores: readonly TargetStore[]
}

interface TestJob {
  name: string
  body: JobRequest
  /** @returns what is wrong, or null */
  verify: (outputs: readonly PublicOutput[]) => Promise<string | null>
}

const jobOf = (input: string, change: Partial<JobRequest> = {}): JobRequest => ({
  input,
  videoProfiles: [{ width: 0, height: 180, video_bitrate: 400, video_bitrate_mode: 'vbr', output: 'doctor.mp4' }],
  audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '96', source_stream: '1' }],
  cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  ...change,
})

export async function runTestJobs(context: TestContext, { input, stores }: TestJobOptions): Promise<Check[]> {
  const uploaded = await uploadClip(context)
  if (typeof uploaded !== 'string') return [uploaded]
  const verify = (outputs: readonly PublicOutput[]): Promise<null> => verifyDownloads(outputs, context.signal)
  const jobs: TestJob[] = [{ name: 'mp4', body: jobOf(uploaded), verify }]
  if (input !== null) {
    const store: JobRequest['cloud_credentials'] = {
      input: { cloud_provider: 'http' },
      output: { cloud_provider: 'vendor-store' },
    }
    jobs.push({ name: 'address', body: jobOf(input, { audioProfiles: [], cloud_credentials: store }), verify })
  }
  jobs.push(...stores.map((store) => storeJob(context, uploaded, store)))
  const checks: Check[] = []
  for (const job of jobs) {
    const remedy = 'See docs/troubleshooting.md.'
    checks.push(await runCheck(job.name, remedy, () => runTestJob(context, job), context.signal))
    // Further ones would wait for the same transcoders as long.
    if (checks[0]?.verdict === 'fault') break
  }
  return checks
}

function storeJob({ created }: TestContext, input: string, store: TargetStore): TestJob {
  let written: readonly PublicOutput[] = []
  created.addCleanup(() => store.remove(written))
  return {
    name: store.name,
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

/** @returns what a job names as its input */
async function uploadClip({ client, created }: TestContext): Promise<string | Check> {
  const directory = await mkdtemp(join(tmpdir(), 'splicepoint-doctor-'))
  try {
    const file = join(directory, 'doctor.avi')
    await writeFile(file, createTestClip({ width: 320, height: 180, framesPerSecond: 25, seconds: 3 }))
    const upload = await client.upload(file, 'doctor.avi')
    created.addUpload(upload.uploaded_file_number)
    return upload.input
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof NetworkError)) throw error
    return fault(
      'upload',
      errorText(error),
      'Uploads must work before a test job can run. See docs/troubleshooting.md.',
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function runTestJob(context: TestContext, { name, body, verify }: TestJob): Promise<Check> {
  const { client, created, note, timeoutMs } = context
  note(`job "${name}" …`)
  const { _auto_generated_id_: id } = await client.create(body)
  created.addJob(id)
  const job = await waitForEnd(context, id)
  const { events } = await client.events(id)
  const wrong = (message: string, remedy = `See docs/troubleshooting.md and the events of job ${id}.`): Check =>
    fault(name, message, remedy)
  if (job === null)
    return wrong(`It did not end within ${timeoutMs / 1000} s; the last event is ${events.at(-1)?.type}.`)
  const { error, outputs, state } = job.status
  if (error) return wrong(`It failed: ${error.message} (${error.code})`)
  if (state !== 'ready') return wrong(`It ended as ${state}.`)
  const lost = events.find(({ type }) => ['attempt.lost', 'attempt.start_failed', 'attempt.evicted'].includes(type))
  if (lost) return wrong(`An attempt was lost: ${lost.message}`, LOST)
  const damage = outputs.length === 0 ? 'It has no output.' : await verify(outputs)
  if (damage !== null) return wrong(damage)
  const bytes = outputs.reduce((sum, { size }) => sum + size, 0)
  const waited = secondsUntil(events, 'attempt.started')
  const total = secondsUntil(events, 'job.completed')
  return ok(name, `${bytes} bytes, as announced; begun after ${waited} s, done after ${total} s.`)
}

function secondsUntil(events: readonly PublicEvent[], type: PublicEvent['type']): string {
  const at = (wanted: PublicEvent['type']): number => Date.parse(events.find((one) => one.type === wanted)?.at ?? '')
  return ((at(type) - at('job.created')) / 1000).toFixed(1)
}

/** null = the job did not end within the time limit. */
async function waitForEnd({ client, signal, timeoutMs }: TestContext, id: number): Promise<JobRead | null> {
  const patience = AbortSignal.timeout(timeoutMs)
  try {
    return await follow(client, id, { pollMs: POLL_MS, signal: AbortSignal.any([signal, patience]) })
  } catch (error) {
    signal.throwIfAborted()
    if (patience.aborted) return null
    throw error
  }
}

/** Compares sizes and hashes. */
async function verifyDownloads(outputs: readonly PublicOutput[], signal: AbortSignal): Promise<null> {
  const directory = await mkdtemp(join(tmpdir(), 'splicepoint-doctor-'))
  try {
    for (const output of outputs) await download(output, directory, signal)
    return null
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
