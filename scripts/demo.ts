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
import { createDemoClip, probeDemoSource, requireFile, type DemoSource } from './demo/demoSource.ts'
import { readSettings, STARTED_FROM } from './local/localSettings.ts'
import { stopOnSignals } from './local/processes/stopSignals.ts'
import { LocalService, type RunningService } from './local/localService.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { minimumBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import type { JobRequest } from '../client/jobRequest.ts'

interface Rendition {
  output: string
  height: number
}

interface DemoJob {
  body: JobRequest
  renditions: Rendition[]
}

const HEIGHTS = [720, 480, 360, 240]
/** Factor on the minimum bitrate. */
const BITRATE_HEADROOM = 2.5

function createDemoJob(source: DemoSource, input: string): DemoJob {
  const fitting = HEIGHTS.filter((height) => height <= source.height).slice(0, 3)
  const heights = fitting.length > 0 ? fitting : [source.height - (source.height % 2)]
  const renditions = heights.map((height) => ({ output: `${height}p.mp4`, height }))
  return {
    renditions,
    body: {
      input,
      output_container: 'mp4',
      video_codec: 'h.264',
      videoProfiles: renditions.map(({ output, height }) => ({
        output,
        width: 0, // proportional
        height,
        video_bitrate_mode: 'vbr',
        video_bitrate: bitrate(source, height),
      })),
      audioProfiles: source.hasAudio
        ? [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }]
        : [],
      cloud_credentials: {
        input: { cloud_provider: 'file-upload' },
        output: { cloud_provider: 'vendor-store' },
      },
    },
  }
}

function bitrate(source: DemoSource, height: number): number {
  const width = Math.round((source.width / source.height) * height)
  return Math.max(300, Math.ceil((minimumBitrateKbps('h.264', width, height, 'vbr') * BITRATE_HEADROOM) / 50) * 50)
}

const run = promisify(execFile)

interface Expectation {
  height: number
  hasAudio: boolean
  /** null = the source does not state its duration. */
  seconds: number | null
}

interface Probe {
  streams: { codec_type: string; codec_name: string; width?: number; height?: number; duration?: string }[]
  format: { duration?: string }
}

/** @returns a description of the file. @throws Error that says what is wrong with it */
async function checkOutput(engine: Engine, path: string, expected: Expectation): Promise<string> {
  const fail = (why: string): Error => new Error(`${path} failed the check: ${why}.`)
  const args = ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', `file:${path}`]
  const { stdout } = await run(engine.ffprobe, args).catch((error: { stderr?: string }) => {
    throw fail(`it cannot be probed (${error.stderr?.trim()})`)
  })
  const { streams, format } = JSON.parse(stdout) as Probe
  const video = streams.find((stream) => stream.codec_type === 'video')
  const audio = streams.find((stream) => stream.codec_type === 'audio')
  if (video?.codec_name !== 'h264') throw fail(`its video is ${video?.codec_name ?? 'missing'}, not h264`)
  if (video.height !== expected.height) throw fail(`its height is ${video.height}, not ${expected.height}`)
  if (expected.hasAudio && audio?.codec_name !== 'aac')
    throw fail(`its audio is ${audio?.codec_name ?? 'missing'}, not aac`)
  if (!expected.hasAudio && audio) throw fail('it has audio although the source has none')
  const seconds = Number(video.duration ?? format.duration)
  // A frame at either end and the encoder's priming are acceptable; a missing part is not.
  const tolerance = Math.max(0.5, (expected.seconds ?? 0) * 0.01)
  if (expected.seconds !== null && !(Math.abs(seconds - expected.seconds) <= tolerance))
    throw fail(`it is ${seconds} s long, but the source is ${expected.seconds} s`)
  await decode(engine, path).catch((error: Error) => {
    throw fail(error.message)
  })
  return `${video.width}x${video.height} h264${audio ? ` + ${audio.codec_name}` : ''}, ${seconds.toFixed(2)} s, every frame decodes`
}

async function decode(engine: Engine, path: string): Promise<void> {
  const args = ['-nostdin', '-v', 'error', '-xerror', '-i', `file:${path}`, '-map', '0', '-f', 'null', '-']
  const complaint = await run(engine.ffmpeg, args, { maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stderr }) => stderr.trim(),
    (error: { stderr?: string }) => error.stderr?.trim() || 'ffmpeg failed',
  )
  if (complaint !== '') throw new Error(`it does not decode (${complaint.split('\n').slice(0, 3).join('; ')})`)
}

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
