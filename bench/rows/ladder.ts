// In charge of: a three-rung job from POST to job_completed, against one hand-written ffmpeg command on the local disk.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PublicStatus } from '#contract/status.ts'
import { Client } from '../../client/client.ts'
import { download } from '../../client/download.ts'
import type { JobRequest } from '../../client/request.ts'
import { ROOT } from '../../scripts/local/settings.ts'
import { locateEngine, type Engine } from '../../transcoder/ffmpeg/locate.ts'
import { CLIP, makeClip } from '../clip.ts'
import { countFrames } from '../ffmpeg.ts'
import { followJob } from '../job.ts'
import { stopwatch, type Stretch } from '../measure.ts'
import { race } from '../race.ts'
import { compare } from '../quality.ts'
import { startService } from '../service.ts'
import type { BenchOptions, Row } from '../table.ts'

const run = promisify(execFile)
const RUNS = 5
const WALL_GOAL = 1.15

const rungs = [
  { name: '1080p', width: 1920, height: 1080, kbps: 5000 },
  { name: '720p', width: 1280, height: 720, kbps: 2800 },
  { name: '360p', width: 640, height: 360, kbps: 800 },
] as const

function order(input: string): JobRequest {
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
    const { input } = await client.upload(source, 'clip.mp4')
    let status: PublicStatus | null = null
    const rows = await race({
      name: `three-rung ladder of ${CLIP.seconds} s`,
      count: runs ?? RUNS,
      goal: WALL_GOAL,
      note,
      ours: async () => {
        const read = stopwatch()
        const job = await followJob(client, await client.create(order(input)))
        status = job.status
        return { stretch: read(), note: job.phases }
      },
      baseline: () => baselineRun(engine, source, join(files, 'baseline')),
    })
    for (const output of (status as PublicStatus | null)?.outputs ?? []) await download(output, join(files, 'ours'))
    await describe(engine, source, files, note)
    return rows
  } finally {
    await rm(files, { recursive: true, force: true })
  }
}

async function baselineRun(engine: Engine, source: string, directory: string): Promise<Stretch> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory)
  const read = stopwatch()
  const script = join(ROOT, 'bench', 'baseline', 'ladder.sh')
  await run('sh', [script, source, directory], { env: { ...process.env, FFMPEG: engine.ffmpeg } })
  return read()
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
