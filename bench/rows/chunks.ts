// In charge of: a job that is divided into chunks against the same job as one task: time, CPU time, bytes read, size and
// quality, with one transcoder on one core and with two on one core each.
// Not in charge of: comparing outputs (chunkQuality.ts), many transcoders.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PublicStatus } from '#contract/api/status.ts'
import { Client } from '../../client/nodeClient.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { locateEngine, type Engine } from '../../transcoder/ffmpeg/locate.ts'
import { startService, type BenchService } from '../benchService.ts'
import { aroundJoins, mean, readOutputs, type Outputs } from '../chunkQuality.ts'
import { cached, ffmpeg } from '../ffmpeg.ts'
import { serveFile } from '../fileServer.ts'
import { makeClip } from '../ladderClip.ts'
import { median, stopwatch, waitForIdleMachine, type ResourceUsage } from '../stopwatch.ts'
import { ratioRow, type BenchOptions, type Row } from '../table.ts'
import { followJob } from '../waitForJob.ts'

type Mode = 'qvbr' | 'vbr'
const RATE = 25
const SHORTER_SECONDS = 0.2
const RUNS = 3
/** No round begins that would end later than this; the comparison of the outputs takes a few minutes more. */
const BUDGET_MS = 20 * 60_000
const FOREIGN_CORES = 0.3
const QUIET_MS = 60_000
/** `read`: the chunks read the source once and a quarter, and the rest reads it once for the sound between the frames. */
const GOALS = { speed: 1 / 1.85, cpu: 1.06, read: 2.25, size: 0.02, quality: 0.003, joins: 0.01 }

const RUNGS = [
  { output: '1080p', width: 1920, height: 1080, video_bitrate: 5000 },
  { output: '720p', width: 1280, height: 720, video_bitrate: 2800 },
  { output: '480p', width: 854, height: 480, video_bitrate: 1400 },
  { output: '360p', width: 640, height: 360, video_bitrate: 800 },
]
/** Chunks as long as a job of this length gets by its prediction (division/plan/automaticDivision.ts). */
const FULL = { seconds: 120, chunkSeconds: 30, rungs: RUNGS }
const QUICK = {
  seconds: 20,
  chunkSeconds: 10,
  rungs: RUNGS.slice(2).map((rung) => ({ ...rung, output: `${rung.output}-quick` })),
}

const SIDES = [
  { name: 'one task, one core', transcoders: 1, isDivided: false },
  { name: 'chunks, one core', transcoders: 1, isDivided: true },
  { name: 'chunks, two cores', transcoders: 2, isDivided: true },
] as const
type SideName = (typeof SIDES)[number]['name']

interface Measured {
  usage: ResourceUsage
  bytesRead: number
  bytesStored: number
}

export const chunks = (options: BenchOptions): Promise<Row[]> => measure('qvbr', options)
export const chunksOfAverage = (options: BenchOptions): Promise<Row[]> => measure('vbr', options)

async function measure(mode: Mode, { runs, busy, quick, note }: BenchOptions): Promise<Row[]> {
  const form = quick ? QUICK : FULL
  const engine = await locateEngine(process.env)
  const source = await makeSource(engine, form.seconds)
  const files = await serveFile()
  const dir = await mkdtemp(join(tmpdir(), 'splicepoint-bench-chunks-'))
  try {
    const input = files.serve(source)
    // One core for each transcoder: for its own process, its ffmpeg, and its share of the Worker.
    await using one = await startPinned(1, files.host)
    await using two = await startPinned(2, files.host)
    const measured = new Map<SideName, Measured[]>(SIDES.map(({ name }) => [name, []]))
    const last = new Map<SideName, PublicStatus>()
    const began = performance.now()
    const rounds = runs ?? (quick ? 1 : RUNS)
    for (let round = 0; round < rounds; round++) {
      const elapsed = performance.now() - began
      if (round > 0 && elapsed + elapsed / round > BUDGET_MS) {
        note(`Only ${round} of ${rounds} rounds fit into the time.`)
        break
      }
      // The second run benefits from warm caches, so the order alternates.
      for (const { name, transcoders, isDivided } of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        if (!busy) await waitForIdleMachine(FOREIGN_CORES, QUIET_MS)
        const service = transcoders === 1 ? one : two
        await pin(process.pid, coresOf(transcoders))
        const client = new Client(service.baseUrl, service.apiKey)
        const before = files.bytesSent()
        const read = stopwatch()
        const job = order(input, mode, form, isDivided)
        const { status, phases } = await followJob(client, await client.create(job))
        const usage = read()
        requireDivision(status, isDivided ? form.seconds / form.chunkSeconds : 0)
        const bytesStored = status.outputs.reduce((sum, { segments }) => sum + (segments?.bytes ?? 0), 0)
        const result = { usage, bytesRead: files.bytesSent() - before, bytesStored }
        measured.get(name)?.push(result)
        last.set(name, status)
        note(`${name.padEnd(18)} ${tell(result)}; ${phases}`)
      }
    }
    const title = `${form.seconds} s, ${form.rungs.length} rungs, ${mode}${quick ? ', quick form' : ''}`
    const rows = costRows(title, measured, busy, note)
    for (const row of rows) note(`${row.name}: ${row.ours} against ${row.baseline}`)
    const outputsOf = (name: SideName): Promise<Outputs> =>
      readOutputs(engine, { status: last.get(name)!, source, rungs: form.rungs, dir })
    await pin(process.pid, coresOf(2))
    note('comparing the outputs …')
    const whole = await outputsOf('one task, one core')
    const divided = await outputsOf('chunks, two cores')
    return [...rows, ...qualityRows(title, divided, whole, form)]
  } finally {
    await files.close()
    await rm(dir, { recursive: true, force: true })
  }
}

const execute = promisify(execFile)

const pin = (pid: number, cores: string) => execute('taskset', ['--all-tasks', '--pid', '--cpu-list', cores, `${pid}`])

const coresOf = (transcoders: number): string => Array.from({ length: transcoders }, (_, core) => core).join(',')

/**
 * Each transcoder runs on a core of its own from its start, so that it plans for one core. The Worker, which passes all bytes
 * on, and the server of the source share these cores. A core of their own would favour the row with one transcoder.
 */
async function startPinned(transcoders: number, host: string): Promise<BenchService> {
  const service = await startService({ TRANSCODERS: `${transcoders}`, ALLOW_PRIVATE_HOSTS: host }, '0')
  for (const pid of service.pids.worker) await pin(pid, coresOf(transcoders))
  for (const [core, pid] of service.transcoderPids.entries()) await pin(pid, `${core}`)
  return service
}

/**
 * The clip of the ladder, repeated or shortened. A little shorter than whole chunks: a copy may end some frames late, and
 * would have a chunk more.
 */
async function makeSource(engine: Engine, seconds: number): Promise<string> {
  const clip = await makeClip(engine.ffmpeg)
  return cached(`clip-1080p25-15M-below-${seconds}s.mp4`, (path) =>
    ffmpeg(engine.ffmpeg, [
      '-stream_loop',
      '-1',
      '-i',
      clip,
      '-t',
      `${seconds - SHORTER_SECONDS}`,
      '-c',
      'copy',
      '-f',
      'mp4',
      path,
    ]),
  )
}

function order(input: string, mode: Mode, form: typeof FULL, isDivided: boolean): JobRequest {
  return {
    input,
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    segment_length: 2,
    video_codec: 'h.264',
    max_chunk_seconds: isDivided ? form.chunkSeconds : 0,
    videoProfiles: form.rungs.map((rung) => ({ ...rung, video_bitrate_mode: mode })),
    audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }],
    cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
  }
}

/** The joins are where they are expected. */
function requireDivision({ chunks: parts }: PublicStatus, expected: number): void {
  const total = parts?.total ?? 0
  if (total !== (expected > 0 ? expected + 1 : 0))
    throw new Error(`the job has ${total} parts, not ${expected} chunks and the rest`)
}

function costRows(
  title: string,
  measured: ReadonlyMap<SideName, readonly Measured[]>,
  busy: boolean,
  note: BenchOptions['note'],
): Row[] {
  // NaN without /proc: then every run counts.
  const isQuiet = ({ usage }: Measured): boolean => busy || !(usage.otherCores > FOREIGN_CORES)
  const of = (name: SideName, read: (one: Measured) => number, quiet = false): number =>
    median((measured.get(name) ?? []).filter((one) => !quiet || isQuiet(one)).map(read))
  const pair = (ours: SideName, theirs: SideName, read: (one: Measured) => number, quiet = false) =>
    [of(ours, read, quiet), of(theirs, read, quiet)] as const
  const wall = ({ usage }: Measured): number => usage.seconds
  const cpu = ({ usage }: Measured): number => usage.cpuSeconds
  const isTimed = SIDES.every(({ name }) => measured.get(name)?.some(isQuiet))
  if (!isTimed) note('Others used the machine during every run of a side: no rows for the wall time.')
  const [whole, one, two] = SIDES.map(({ name }) => name) as [SideName, SideName, SideName]
  const timed: Row[] = isTimed
    ? [
        speedRow(`${title}: wall, two transcoders against one, both in chunks`, pair(two, one, wall, true)),
        speedRow(`${title}: wall, two transcoders in chunks against one task`, pair(two, whole, wall, true)),
        ratioRow(
          `${title}: wall, chunks against one task, one transcoder`,
          pair(one, whole, wall, true),
          null,
          inSeconds,
        ),
      ]
    : []
  const size = ratioRow(
    `${title}: size, chunks against one task`,
    pair(two, whole, ({ bytesStored }) => bytesStored),
    null,
    inMegabytes,
  )
  return [
    ...timed,
    ratioRow(`${title}: CPU, chunks against one task, one transcoder`, pair(one, whole, cpu), GOALS.cpu, inSeconds),
    ratioRow(`${title}: CPU, two transcoders in chunks against one task`, pair(two, whole, cpu), null, inSeconds),
    ratioRow(
      `${title}: bytes read of the source, chunks against one task`,
      pair(two, whole, ({ bytesRead }) => bytesRead),
      GOALS.read,
      inMegabytes,
    ),
    { ...size, goal: `± ${GOALS.size * 100} %`, goalMet: Math.abs((size.ratio ?? 0) - 1) <= GOALS.size },
  ]
}

function speedRow(name: string, [ours, baseline]: readonly [number, number]): Row {
  const row = ratioRow(name, [ours, baseline], null, inSeconds)
  return { ...row, goal: `≤ ${GOALS.speed.toFixed(2)} ×`, goalMet: ours / baseline <= GOALS.speed }
}

function qualityRows(title: string, divided: Outputs, whole: Outputs, form: typeof FULL): Row[] {
  const joins = Array.from({ length: form.seconds / form.chunkSeconds - 1 }, (_, n) => (n + 1) * form.chunkSeconds)
  const rows = form.rungs.flatMap(({ output }): Row[] => {
    const [ours, theirs] = [divided.videos.get(output)!, whole.videos.get(output)!]
    const ssim = [mean(ours.ssim), mean(theirs.ssim)] as const
    const [near, nearThem] = [aroundJoins(ours.ssim, joins, RATE), aroundJoins(theirs.ssim, joins, RATE)]
    const worst = near.reduce((at, value, n) => (value / nearThem[n]! < near[at]! / nearThem[at]! ? n : at), 0)
    const name = `${title}, ${output}`
    return [
      equalRow(`${name}: frames and their times`, `${ours.times.length}`, `${theirs.times.length}`, {
        isEqual: ours.times.join() === theirs.times.join(),
      }),
      lowestRow(`${name}: SSIM to the source`, ssim, GOALS.quality),
      lowestRow(`${name}: SSIM of the second around each join`, [mean(near), mean(nearThem)], GOALS.joins),
      lowestRow(`${name}: SSIM of the worst of these seconds`, [near[worst]!, nearThem[worst]!], null),
    ]
  })
  const sound = equalRow(`${title}: decoded sound`, divided.audio.slice(0, 8), whole.audio.slice(0, 8), {
    isEqual: divided.audio === whole.audio,
  })
  return [...rows, sound]
}

function equalRow(name: string, ours: string, baseline: string, { isEqual }: { isEqual: boolean }): Row {
  return { name, ours, baseline, ratio: null, goal: 'the same', goalMet: isEqual }
}

function lowestRow(name: string, pair: readonly [number, number], below: number | null): Row {
  const row = ratioRow(name, pair, null, (value) => value.toFixed(5))
  if (below === null) return row
  return { ...row, goal: `≥ ${1 - below} ×`, goalMet: (row.ratio ?? 0) >= 1 - below }
}

const inSeconds = (value: number): string => `${value.toFixed(2)} s`
const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`

function tell({ usage, bytesRead, bytesStored }: Measured): string {
  const { seconds, cpuSeconds, otherCores } = usage
  return `${inSeconds(seconds)} wall, ${inSeconds(cpuSeconds)} CPU, others kept ${otherCores.toFixed(2)} cores busy; read ${inMegabytes(bytesRead)}, stored ${inMegabytes(bytesStored)}`
}
