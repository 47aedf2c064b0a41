// In charge of: the duration of a three-rung job from POST to job_completed, against hand-written ffmpeg commands on
// the local disk.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PublicStatus } from '#contract/api/status.ts'
import { Client } from '../../client/nodeClient.ts'
import { download } from '../../client/download/downloadFile.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { locateEngine, type Engine } from '../../transcoder/ffmpeg/locate.ts'
import { runPlainCommand } from '../plainCommand.ts'
import { CLIP, makeClip } from '../ladderClip.ts'
import { countFrames } from '../ffmpeg.ts'
import { followJob } from '../waitForJob.ts'
import { stopwatch } from '../stopwatch.ts'
import { measureCpuByProcess } from '../cpuByProcess.ts'
import { compareRuns } from '../comparison.ts'
import { compareQuality } from '../quality.ts'
import { startService } from '../benchService.ts'
import type { BenchOptions, Row } from '../table.ts'

const RUNS = 5
const WALL_GOAL = 1.15
/** Goal against a plain command, as most people would write it. */
const PLAIN_GOAL = 1.05

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

export async function ladder({ runs, busy, note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  note(`ffmpeg ${engine.version}; making the clip, unless it is there …`)
  const source = await makeClip(engine.ffmpeg)
  const files = await mkdtemp(join(tmpdir(), 'splicepoint-bench-ladder-'))
  try {
    await using service = await startService()
    const client = new Client(service.baseUrl, service.apiKey)
    const { input } = await client.upload(source, 'clip.mp4')
    let status: PublicStatus | null = null
    const rows = await compareRuns({
      name: `three-rung ladder of ${CLIP.seconds} s`,
      count: runs ?? RUNS,
      busy,
      note,
      ours: async () => {
        const read = stopwatch()
        const cpuByProcess = measureCpuByProcess(service.pids)
        const job = await followJob(client, await client.create(order(input)))
        status = job.status
        return { usage: read(), cpuByProcess: cpuByProcess(), note: job.phases }
      },
      baselines: [
        {
          label: 'the same settings',
          wallGoal: WALL_GOAL,
          cpuGoal: null,
          run: () => runPlainCommand(engine, 'ladder.sh', source, join(files, 'baseline')),
        },
        {
          label: 'a plain command',
          wallGoal: PLAIN_GOAL,
          cpuGoal: PLAIN_GOAL,
          run: () => runPlainCommand(engine, 'ladder-plain.sh', source, join(files, 'plain')),
        },
      ],
    })
    for (const output of (status as PublicStatus | null)?.outputs ?? []) await download(output, join(files, 'ours'))
    await describe(engine, source, files, note)
    return rows
  } finally {
    await rm(files, { recursive: true, force: true })
  }
}

/** Whether both sides did equal work: frame counts and SSIM of the last run of each. */
async function describe(engine: Engine, source: string, files: string, note: (line: string) => void): Promise<void> {
  for (const rung of rungs) {
    const [ours, baseline] = ['ours', 'baseline'].map((side) => join(files, side, `${rung.name}.mp4`)) as [
      string,
      string,
    ]
    const frames = [await countFrames(engine.ffprobe, ours), await countFrames(engine.ffprobe, baseline)]
    const ssim = await compareQuality(engine, { source, ours, baseline }, rung)
    note(
      `${rung.name}: ${frames[0]} frames, baseline ${frames[1]}, source ${CLIP.frames}; SSIM to the scaled source ${ssim.ours}, ` +
        `baseline ${ssim.baseline}; ours to baseline ${ssim.between}`,
    )
  }
}
