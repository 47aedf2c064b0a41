// In charge of: the duration of a four-rung job for HLS and DASH from POST to job_completed, against hand-written
// ffmpeg commands on the local disk; the time until its first segment is stored; its scratch space.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Created } from '#contract/api/answers.ts'
import { Client } from '../../client/nodeClient.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { locateEngine } from '../../transcoder/ffmpeg/locate.ts'
import { runPlainCommand } from '../plainCommand.ts'
import { CLIP, makeClip } from '../ladderClip.ts'
import { followJob } from '../waitForJob.ts'
import { median, stopwatch } from '../stopwatch.ts'
import { measureCpuByProcess } from '../cpuByProcess.ts'
import { compareRuns } from '../comparison.ts'
import { startService } from '../benchService.ts'
import type { BenchOptions, Row } from '../table.ts'

const RUNS = 3
const WALL_GOAL = 1.1
/** Goal against a plain command, as most people would write it. */
const PLAIN_GOAL = 1.05
/** Interval of the measurements. On a small machine, each one takes CPU time from the encoder. */
const SAMPLE_MS = 250

const rungs = [
  { output: '1080p', width: 1920, height: 1080, video_bitrate: 5000 },
  { output: '720p', width: 1280, height: 720, video_bitrate: 2800 },
  { output: '480p', width: 854, height: 480, video_bitrate: 1400 },
  { output: '360p', width: 640, height: 360, video_bitrate: 800 },
] as const

function order(input: string): JobRequest {
  return {
    input,
    segmented_output_hls: true,
    segmented_output_dash: true,
    segment_length: 2,
    video_codec: 'h.264',
    videoProfiles: rungs.map((rung) => ({ ...rung, video_bitrate_mode: 'vbr' })),
    audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }],
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  }
}

export async function segmented({ runs, busy, note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  note(`ffmpeg ${engine.version}; making the clip, unless it is there …`)
  const source = await makeClip(engine.ffmpeg)
  const files = await mkdtemp(join(tmpdir(), 'splicepoint-bench-segmented-'))
  const firsts: number[] = []
  const peaks: number[] = []
  let produced = 0
  try {
    await using service = await startService()
    const client = new Client(service.baseUrl, service.apiKey)
    const { input } = await client.upload(source, 'clip.mp4')
    const rows = await compareRuns({
      name: `four-rung HLS and DASH of ${CLIP.seconds} s`,
      count: runs ?? RUNS,
      busy,
      note,
      ours: async () => {
        const workDir = watchDirectory(join(service.workDir, 'state', 'work'))
        const read = stopwatch()
        const cpuByProcess = measureCpuByProcess(service.pids)
        const created = await client.create(order(input))
        const first = await firstStored(client, created)
        const job = await followJob(client, created)
        const usage = read()
        const used = cpuByProcess()
        const peak = await workDir.stop()
        firsts.push(first)
        peaks.push(peak)
        produced = job.status.outputs.reduce((sum, { segments }) => sum + (segments?.bytes ?? 0), 0)
        return {
          usage,
          cpuByProcess: used,
          note: `first segment ${first.toFixed(2)} s after the claim, scratch ${mb(peak)}; ${job.phases}`,
        }
      },
      baselines: [
        {
          label: 'the same settings',
          wallGoal: WALL_GOAL,
          cpuGoal: null,
          run: () => runPlainCommand(engine, 'segmented.sh', source, join(files, 'baseline')),
        },
        {
          label: 'a plain command',
          wallGoal: PLAIN_GOAL,
          cpuGoal: PLAIN_GOAL,
          run: () => runPlainCommand(engine, 'segmented-plain.sh', source, join(files, 'plain')),
        },
      ],
    })
    return [
      ...rows,
      plain('from the claim to the first segment in the store', `${median(firsts).toFixed(2)} s`),
      plain(`peak scratch space, of ${mb(produced)} that were made`, mb(Math.max(...peaks))),
    ]
  } finally {
    await rm(files, { recursive: true, force: true })
  }
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

function plain(name: string, ours: string): Row {
  return { name, ours, baseline: '–', ratio: null, goal: '–', goalMet: null }
}

/** Seconds from the claim of the task until its first object was stored. */
async function firstStored(client: Client, { _auto_generated_id_: id }: Created): Promise<number> {
  let claimed: number | null = null
  for (;;) {
    const { status } = await client.read(id)
    if (status.started_at != null) claimed ??= Date.parse(status.started_at)
    if (claimed !== null && (Number(status.xfer_progress) > 0 || status.job_completed))
      return (Date.now() - claimed) / 1000
    await pause(SAMPLE_MS)
  }
}

/** Bytes of one block in `stat`, independent of the disk's block size (stat(2)). */
const BLOCK_BYTES = 512

/** Peak disk usage of the files below a directory. Blocks are counted because the cached source is a sparse file. */
function watchDirectory(directory: string): { stop: () => Promise<number> } {
  let peak = 0
  const stopped = new AbortController()
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      const names = await readdir(directory, { recursive: true }).catch(() => [])
      const sizes = await Promise.all(
        names.map((name) =>
          stat(join(directory, name)).then(
            (found) => (found.isFile() ? found.blocks * BLOCK_BYTES : 0),
            () => 0,
          ),
        ),
      )
      peak = Math.max(
        peak,
        sizes.reduce((sum, size) => sum + size, 0),
      )
      await pause(SAMPLE_MS)
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await watching
      return peak
    },
  }
}
