// In charge of: `npm run demo [-- FILE]`: starts a service, runs one job, downloads its outputs and checks them.
// Not in charge of: the service (local/localService.ts), the single steps (demo/).
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { JobRead } from '#contract/api/answers.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { jobProgress } from '../cli/text/progressState.ts'
import { progressLine } from '../cli/text/progressLine.ts'
import { Client } from '../client/nodeClient.ts'
import { download } from '../client/download/downloadFile.ts'
import { follow } from '../client/followJob.ts'
import { locateEngine, type Engine } from '../transcoder/ffmpeg/locate.ts'
import { checkOutput } from './demo/checkOutput.ts'
import { createDemoJob } from './demo/demoJob.ts'
import { createDemoClip, probeDemoSource, requireFile, type DemoSource } from './demo/demoSource.ts'
import { readSettings, STARTED_FROM } from './local/localSettings.ts'
import { stopOnSignals } from './local/processes/stopSignals.ts'
import { LocalService, type RunningService } from './local/localService.ts'

const POLL_MS = 300
/** A restarting Worker does not respond for some seconds. */
const SILENCE_MS = 60_000

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Reports progress only for uploads of several requests. */
function uploaded(stored: number, size: number): void {
  if (stored < size) say(`Uploading: ${Math.floor((stored / size) * 100)} %`)
}

async function watch(client: Client, id: number): Promise<PublicStatus> {
  const line = progressLine(process.stdout)
  const show = ({ status }: JobRead): void => line.show(jobProgress(status))
  try {
    return (await follow(client, id, { pollMs: POLL_MS, silenceMs: SILENCE_MS, show })).status
  } finally {
    line.end()
  }
}

/** One job from the upload to checked files. @returns the directory of the files */
async function transcode(service: RunningService, engine: Engine, source: DemoSource): Promise<string[]> {
  const client = new Client(service.baseUrl, service.apiKey)
  const order = createDemoJob(source, (await client.upload(source.path, source.name, { progress: uploaded })).input)
  const { _auto_generated_id_: id } = await client.create(order.body)
  say(`Job ${id}: ${source.name} → ${order.renditions.map(({ output }) => output).join(', ')}`)
  const status = await watch(client, id)
  if (status.error) throw new Error(`The job failed: ${status.error.message} (${status.error.code})`)
  if (status.state === 'cancelled') throw new Error('The job was cancelled.')
  for (const { message } of status.warnings) say(`Note: ${message}`)

  const directory = join(STARTED_FROM, 'out', status.job_id)
  const paths: string[] = []
  for (const { output, height } of order.renditions) {
    const found = status.outputs.find(({ path }) => path === output)
    if (!found) throw new Error(`The job is complete but has no output ${output}.`)
    const { file: path } = await download(found, directory)
    const { hasAudio, seconds } = source
    say(`${relative(STARTED_FROM, path)}  ${await checkOutput(engine, path, { height, hasAudio, seconds })}`)
    paths.push(path)
  }
  return paths
}

function howToPlay(path: string): string {
  const name = relative(STARTED_FROM, path)
  const quoted = /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`
  const command = process.platform === 'darwin' ? 'open' : 'ffplay -autoexit'
  return `Play one:  ${command} ${quoted}   (or open it in a browser or VLC)`
}

async function demo(): Promise<void> {
  const named = process.argv[2] === undefined ? null : await requireFile(process.argv[2])
  const engine = await locateEngine(process.env)
  const scratch = await mkdtemp(join(tmpdir(), 'splicepoint-demo-'))
  // Runs everything on this machine, whatever the environment says about transcoders.
  const settings = readSettings(
    { ...process.env, TRANSCODER_URLS: '', DRY_RUN_TRANSCODERS: '0' },
    { port: 0, stateDir: join(scratch, 'state') },
  )
  const local = new LocalService(settings, (text) => process.stderr.write(`${text}\n`))
  const clear = (): Promise<void> => rm(scratch, { recursive: true, force: true, maxRetries: 3 })
  const signals = stopOnSignals(local, clear)
  try {
    if (named === null) say('Generating a ten-second clip …')
    const source = await probeDemoSource(engine, named ?? (await createDemoClip(engine, scratch)))
    say('Starting the service …')
    const service = await local.start()
    say(`Splicepoint is running at ${service.baseUrl} with ffmpeg ${engine.version}.`)
    const paths = await transcode(service, engine, source)
    say(`\nAll outputs passed the checks.  ${howToPlay(paths[0] ?? '')}`)
    if (process.env['STATE_DIR']) say(`The job’s data is in ${settings.stateDir}.`)
    process.exitCode = 0
    await local.stop()
    await clear()
  } catch (error) {
    if (signals.received()) return
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
    await local.stop()
    process.stderr.write(`Logs: ${join(settings.stateDir, 'logs')}\n`)
  }
}

// The exit code is 1, however the program ends, until all checks have passed.
process.exitCode = 1
try {
  await demo()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
}
