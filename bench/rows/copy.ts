// In charge of: a job that copies 30 s of 1080p into HLS, from POST to job_completed, against one plain ffmpeg command on
// the local disk.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '../../client/nodeClient.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { locateEngine } from '../../transcoder/ffmpeg/locate.ts'
import { startService } from '../benchService.ts'
import { cached, ffmpeg } from '../ffmpeg.ts'
import { runPlainCommand } from '../plainCommand.ts'
import { median, stopwatch } from '../stopwatch.ts'
import type { BenchOptions, Row } from '../table.ts'

const RUNS = 9
/** Goal against the plain command. A job also probes, plans, hashes, uploads and commits. */
const GOAL = 1.3
const POLL_MS = 10
const SECONDS = 30

export async function copy({ runs, note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  const source = await makeSource(engine.ffmpeg)
  const files = await mkdtemp(join(tmpdir(), 'splicepoint-bench-copy-'))
  const walls: number[] = []
  const bare: number[] = []
  try {
    await using service = await startService()
    const client = new Client(service.baseUrl, service.apiKey)
    const { input } = await client.upload(source, 'copy.mp4')
    // A first job, so that compilation and new connections are not measured.
    await client.follow((await client.create(order(input)))._auto_generated_id_, { pollMs: POLL_MS })
    for (let at = 0; at < (runs ?? RUNS); at++) {
      const read = stopwatch()
      const created = await client.create(order(input))
      const { status } = await client.follow(created._auto_generated_id_, { pollMs: POLL_MS })
      const { seconds } = read()
      if (status.error) throw new Error(`The job failed: ${status.error.message}`)
      walls.push(seconds)
      const plain = await runPlainCommand(engine, 'copy.sh', source, join(files, 'baseline'))
      bare.push(plain.seconds)
      note(`${seconds.toFixed(2)} s, the plain command ${plain.seconds.toFixed(2)} s`)
    }
  } finally {
    await rm(files, { recursive: true, force: true })
  }
  const [wall, alone] = [median(walls), median(bare)]
  const s = (value: number): string => `${value.toFixed(2)} s`
  return [
    {
      name: `copy of ${SECONDS} s of 1080p into HLS, wall, against ffmpeg -c copy`,
      ours: s(wall),
      baseline: s(alone),
      ratio: wall / alone,
      goal: `≤ ${GOAL} ×`,
      goalMet: wall <= GOAL * alone,
    },
    {
      name: `copy of ${SECONDS} s of 1080p into HLS, what is added to ffmpeg -c copy`,
      ours: s(wall - alone),
      baseline: '–',
      ratio: null,
      goal: '–',
      goalMet: null,
    },
  ]
}

function makeSource(program: string): Promise<string> {
  return cached(`copy-1080p25-${SECONDS}s.mp4`, (path) =>
    ffmpeg(program, [
      ...['-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=1920x1080:rate=25,noise=alls=12:allf=t'],
      ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-t', `${SECONDS}`],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-b:v', '8M', '-maxrate', '8M', '-bufsize', '16M'],
      ...['-g', '50', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-ac', '2', '-f', 'mp4', path],
    ]),
  )
}

function order(input: string): JobRequest {
  return {
    input,
    output_container: 'hls',
    video_codec: 'copy',
    videoProfiles: [{ output: '1080p' }],
    audioProfiles: [{ audio_codec: 'copy', source_stream: '1' }],
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  }
}
