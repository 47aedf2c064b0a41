// In charge of: a three-rung job from POST to job_completed, against one hand-written ffmpeg command on the local disk.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, type Status } from '../../scripts/demo/client.ts'
import { ROOT } from '../../scripts/local/settings.ts'
import { locateEngine, type Engine } from '../../transcoder/ffmpeg/locate.ts'
import { CLIP, makeClip } from '../clip.ts'
import { countFrames } from '../ffmpeg.ts'
import { followJob } from '../job.ts'
import { median, stopwatch, untilQuiet, type Stretch } from '../measure.ts'
import { compare } from '../quality.ts'
import { startService } from '../service.ts'
import { ratioRow, type BenchOptions, type Row } from '../table.ts'

const run = promisify(execFile)
const RUNS = 5
/** A run during which others kept more cores busy than this is not counted and repeated, so often at most. */
const FOREIGN_CORES = 0.3
const TRIES = 3
const QUIET_MS = 60_000
const WALL_GOAL = 1.15

const rungs = [
  { name: '1080p', width: 1920, height: 1080, kbps: 5000 },
  { name: '720p', width: 1280, height: 720, kbps: 2800 },
  { name: '360p', width: 640, height: 360, kbps: 800 },
] as const

function order(input: string): object {
  return {
    input,
    output_container: 'mp4',
    video_codec: 'h.264',
    videoProfiles: rungs.map(({ name, width, height, kbps }) => ({
      output: `${name}.mp4`,
      width,
      height,
      video_bitrate_mode: 'vbr',
      video_bitrate: kbps,
    })),
    audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }],
    cloud_credentials: {
      input: { cloud_provider: 'file-upload' },
      output: { cloud_provider: 'vendor-store' },
    },
  }
}

export async function ladder({ runs, note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  note(`ffmpeg ${engine.version}; making the clip, unless it is there …`)
  const source = await makeClip(engine.ffmpeg)
  const files = await mkdtemp(join(tmpdir(), 'splicepoint-bench-ladder-'))
  try {
    await using service = await startService()
    const client = new Client(service.baseUrl, service.apiKey)
    const input = await client.upload(source, 'clip.mp4')
    const ours: Stretch[] = []
    const baseline: Stretch[] = []
    const all = { ours: [] as Stretch[], baseline: [] as Stretch[] }
    let status: Status | null = null
    const count = runs ?? RUNS
    for (let at = 0; at < count * TRIES && Math.min(ours.length, baseline.length) < count; at++) {
      // Whoever comes second has warm caches: take turns.
      for (const side of at % 2 === 0 ? (['ours', 'baseline'] as const) : (['baseline', 'ours'] as const)) {
        await untilQuiet(FOREIGN_CORES, QUIET_MS)
        if (side === 'baseline') {
          const stretch = await baselineRun(engine, source, join(files, 'baseline'))
          all.baseline.push(stretch)
          keep(stretch, baseline)
          note(`baseline ${tell(stretch)}`)
        } else {
          const read = stopwatch()
          const job = await followJob(client, await client.create(order(input)))
          const stretch = read()
          all.ours.push(stretch)
          keep(stretch, ours)
          status = job.status
          note(`ours     ${tell(stretch)}   ${job.phases}`)
        }
      }
    }
    for (const output of status?.outputs ?? []) await client.download(output, join(files, 'ours'))
    await describe(engine, source, files, note)
    const wall = [median(ours.map(seconds)), median(baseline.map(seconds))] as const
    const cpu = [median(all.ours.map(cpuSeconds)), median(all.baseline.map(cpuSeconds))] as const
    const quiet = Math.min(ours.length, baseline.length) >= count
    if (!quiet) note(`Only ${ours.length} and ${baseline.length} runs were quiet: no row for the wall time.`)
    const unit = (value: number): string => `${value.toFixed(2)} s`
    return [
      ...(quiet ? [ratioRow(`three-rung ladder of ${CLIP.seconds} s, wall`, wall, WALL_GOAL, unit)] : []),
      ratioRow(`three-rung ladder of ${CLIP.seconds} s, CPU`, cpu, null, unit),
    ]
  } finally {
    await rm(files, { recursive: true, force: true })
  }
}

const seconds = (stretch: Stretch): number => stretch.seconds
const cpuSeconds = (stretch: Stretch): number => stretch.cpuSeconds

async function baselineRun(engine: Engine, source: string, directory: string): Promise<Stretch> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory)
  const read = stopwatch()
  const script = join(ROOT, 'bench', 'baseline', 'ladder.sh')
  await run('sh', [script, source, directory], { env: { ...process.env, FFMPEG: engine.ffmpeg } })
  return read()
}

function keep(stretch: Stretch, clean: Stretch[]): void {
  // NaN where there is no /proc: then every run counts.
  if (!(stretch.foreignCores > FOREIGN_CORES)) clean.push(stretch)
}

function tell(stretch: Stretch): string {
  const { seconds: wall, cpuSeconds: cpu, foreignCores } = stretch
  return `${wall.toFixed(2)} s wall, ${cpu.toFixed(2)} s CPU, others kept ${foreignCores.toFixed(2)} cores busy`
}

/** Equal work? Frame counts and SSIM of the last run of each side. */
async function describe(engine: Engine, source: string, files: string, note: (line: string) => void): Promise<void> {
  for (const rung of rungs) {
    const [ours, baseline] = ['ours', 'baseline'].map((side) => join(files, side, `${rung.name}.mp4`)) as [
      string,
      string,
    ]
    const frames = [await countFrames(engine.ffprobe, ours), await countFrames(engine.ffprobe, baseline)]
    const ssim = await compare(engine, { source, ours, baseline }, rung)
    note(
      `${rung.name}: ${frames[0]} frames, baseline ${frames[1]}, source ${CLIP.frames}; SSIM to the scaled source ${ssim.ours}, ` +
        `baseline ${ssim.baseline}; ours to baseline ${ssim.between}`,
    )
  }
}
