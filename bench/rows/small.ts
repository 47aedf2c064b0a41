// In charge of: the overhead of a job for a clip of 2 s: dispatch, probes, plan, upload and commit, from POST to
// job_completed, against one plain ffmpeg command on the local disk.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '../../client/nodeClient.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { locateEngine } from '../../transcoder/ffmpeg/locate.ts'
import { runPlainCommand } from '../plainCommand.ts'
import { cached, ffmpeg } from '../ffmpeg.ts'
import { median, stopwatch } from '../stopwatch.ts'
import { measureCpuByProcess } from '../cpuByProcess.ts'
import { startService } from '../benchService.ts'
import type { BenchOptions, Row } from '../table.ts'

const RUNS = 15
/** Goal for the whole job on an idle machine. */
const GOAL_SECONDS = 0.45
/** Polling every 10 ms, to detect the end precisely. */
const POLL_MS = 10

export async function small({ runs, note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  const source = await makeSmall(engine.ffmpeg)
  const files = await mkdtemp(join(tmpdir(), 'splicepoint-bench-small-'))
  const walls: number[] = []
  const bare: number[] = []
  const cpus = { ffmpeg: [] as number[], transcoder: [] as number[], worker: [] as number[], bare: [] as number[] }
  try {
    await using service = await startService()
    const client = new Client(service.baseUrl, service.apiKey)
    const { input } = await client.upload(source, 'small.mp4')
    // A first job, so that compilation and new connections are not measured.
    await client.follow((await client.create(order(input)))._auto_generated_id_, { pollMs: POLL_MS })
    for (let at = 0; at < (runs ?? RUNS); at++) {
      const read = stopwatch()
      const cpuByProcess = measureCpuByProcess(service.pids)
      const created = await client.create(order(input))
      const { status } = await client.follow(created._auto_generated_id_, { pollMs: POLL_MS })
      const { seconds } = read()
      if (status.error) throw new Error(`The job failed: ${status.error.message}`)
      const { ffmpeg: encode, transcoder, worker } = cpuByProcess()
      walls.push(seconds)
      cpus.ffmpeg.push(encode)
      cpus.transcoder.push(transcoder)
      cpus.worker.push(worker)
      const baseline = await runPlainCommand(engine, 'small.sh', source, join(files, 'baseline'))
      bare.push(baseline.seconds)
      cpus.bare.push(baseline.cpuSeconds)
    }
  } finally {
    await rm(files, { recursive: true, force: true })
  }
  const [wall, alone] = [median(walls), median(bare)]
  const s = (value: number): string => `${value.toFixed(2)} s`
  note(
    `CPU: ffmpeg and ffprobe ${s(median(cpus.ffmpeg))}, transcoder ${s(median(cpus.transcoder))}, ` +
      `Worker ${s(median(cpus.worker))} (with the questions for the end); bare ffmpeg ${s(median(cpus.bare))}`,
  )
  return [
    {
      name: 'job of 2 s, wall, against a plain command',
      ours: s(wall),
      baseline: s(alone),
      ratio: wall / alone,
      goal: `≤ ${GOAL_SECONDS} s`,
      goalMet: wall <= GOAL_SECONDS,
    },
    {
      name: 'job of 2 s, what is added to the plain command',
      ours: s(wall - alone),
      baseline: '–',
      ratio: null,
      goal: '–',
      goalMet: null,
    },
  ]
}

function makeSmall(program: string): Promise<string> {
  return cached('small-720p25.mp4', (path) =>
    ffmpeg(program, [
      ...['-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=25'],
      ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-t', '2'],
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '3M', '-pix_fmt', 'yuv420p'],
      ...['-c:a', 'aac', '-ac', '2', '-f', 'mp4', path],
    ]),
  )
}

function order(input: string): JobRequest {
  return {
    input,
    output_container: 'mp4',
    video_codec: 'h.264',
    videoProfiles: [{ output: '360p.mp4', width: 640, height: 360, video_bitrate_mode: 'vbr', video_bitrate: 800 }],
    audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }],
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  }
}
