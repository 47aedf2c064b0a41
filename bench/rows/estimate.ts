// In charge of: the accuracy of dry runs: estimated against real bytes, CPU time and wall time, for jobs of every codec
// and preset.
// Not in charge of: the model (transcoder/plan/estimate/costConstants.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import type { Estimate, EstimateRange } from '#contract/task/dryRunEstimate.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { Client } from '../../client/nodeClient.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { locateEngine } from '../../transcoder/ffmpeg/locate.ts'
import { cached, ffmpeg } from '../ffmpeg.ts'
import { followJob } from '../waitForJob.ts'
import { median, stopwatch } from '../stopwatch.ts'
import { startService } from '../benchService.ts'
import type { BenchOptions, Row } from '../table.ts'

const SECONDS = 10
/** Height, mode and kbps of a rendition. */
type Rung = readonly [height: number, mode: 'vbr' | 'cbr' | 'qvbr', kbps: number]
interface Sample {
  name: string
  codec: 'h.264' | 'hevc' | 'mpeg2'
  quality: 'good' | 'better' | 'best'
  container: 'mp4' | 'ts'
  rungs: readonly Rung[]
}

const ladder: readonly Rung[] = [
  [720, 'vbr', 2500],
  [360, 'vbr', 800],
]
const samples: readonly Sample[] = [
  { name: 'h.264 good, two rungs', codec: 'h.264', quality: 'good', container: 'mp4', rungs: ladder },
  { name: 'h.264 better', codec: 'h.264', quality: 'better', container: 'mp4', rungs: [[720, 'vbr', 2500]] },
  { name: 'h.264 best', codec: 'h.264', quality: 'best', container: 'mp4', rungs: [[360, 'vbr', 800]] },
  { name: 'h.264 cbr', codec: 'h.264', quality: 'good', container: 'ts', rungs: [[720, 'cbr', 2500]] },
  { name: 'h.264 qvbr', codec: 'h.264', quality: 'good', container: 'mp4', rungs: [[720, 'qvbr', 5000]] },
  { name: 'hevc good', codec: 'hevc', quality: 'good', container: 'mp4', rungs: [[720, 'vbr', 2000]] },
  { name: 'hevc better', codec: 'hevc', quality: 'better', container: 'mp4', rungs: [[360, 'vbr', 600]] },
  { name: 'mpeg2', codec: 'mpeg2', quality: 'good', container: 'ts', rungs: [[720, 'vbr', 8000]] },
]

interface Pair {
  measured: number
  predicted: EstimateRange
}

export async function estimate({ note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  const source = await makeSource(engine.ffmpeg)
  await using service = await startService()
  const client = new Client(service.baseUrl, service.apiKey)
  const { input } = await client.upload(source, 'clip.mp4')
  const bytes: Pair[] = []
  const cpu: Pair[] = []
  const wall: Pair[] = []
  for (const sample of samples) {
    const body = order(sample, input)
    const dry = await followJob(client, await client.create(body, { dryRun: true }))
    const { predicted, plan } = (dry.status as PublicStatus & { estimate: Estimate }).estimate
    const read = stopwatch()
    const { status } = await followJob(client, await client.create(body))
    const usage = read()
    for (const [index, output] of status.outputs.entries())
      bytes.push({ measured: output.size, predicted: plan.outputs[index]!.output_bytes! })
    cpu.push({ measured: usage.cpuSeconds, predicted: predicted.cpu_seconds! })
    wall.push({ measured: usage.seconds, predicted: predicted.wall_seconds! })
    note(
      `${sample.name}: bytes ${status.outputs.map((output, index) => ratio(output.size, plan.outputs[index]!.output_bytes!)).join(' ')}, ` +
        `CPU ${usage.cpuSeconds.toFixed(1)} s (${ratio(usage.cpuSeconds, predicted.cpu_seconds!)}), ` +
        `wall ${usage.seconds.toFixed(1)} s (${ratio(usage.seconds, predicted.wall_seconds!)}), ` +
        `others kept ${usage.otherCores.toFixed(1)} cores busy`,
    )
  }
  return [row('bytes of an output', bytes), row('CPU time of a job', cpu), row('wall time of a job', wall)]
}

function ratio(measured: number, { likely }: EstimateRange): string {
  return (measured / likely).toFixed(2)
}

function row(what: string, pairs: readonly Pair[]): Row {
  const ratios = pairs.map(({ measured, predicted }) => measured / predicted.likely)
  return {
    name: `${what}, against its dry run`,
    ours: `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`,
    baseline: 'likely = 1',
    ratio: median(ratios),
    goal: 'low to high',
    goalMet: pairs.every(({ measured, predicted }) => measured >= predicted.low && measured <= predicted.high),
  }
}

/** Detail, motion and grain like the ladder's clip, in 720p. */
function makeSource(program: string): Promise<string> {
  const size = 'size=1280x720:rate=25'
  return cached('estimate-720p25.mp4', (path) =>
    ffmpeg(program, [
      ...['-loglevel', 'error'],
      ...['-f', 'lavfi', '-i', `mandelbrot=${size}:maxiter=400:start_scale=3:end_scale=0.05:end_pts=${SECONDS * 25}`],
      ...['-f', 'lavfi', '-i', 'sine=frequency=330:beep_factor=3:sample_rate=48000'],
      ...['-vf', 'format=yuv420p,noise=alls=5:allf=t:all_seed=6', '-t', `${SECONDS}`],
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '8M', '-maxrate', '10M', '-bufsize', '20M', '-g', '50'],
      ...['-c:a', 'aac', '-b:a', '192k', '-ac', '2', '-f', 'mp4', path],
    ]),
  )
}

function order({ codec, quality, container, rungs }: Sample, input: string): JobRequest {
  return {
    input,
    output_container: container,
    video_codec: codec,
    h264_quality: quality,
    videoProfiles: rungs.map(([height, mode, kbps]) => ({
      output: `${height}.${container}`,
      width: 0,
      height,
      video_bitrate_mode: mode,
      video_bitrate: kbps,
    })),
    audioProfiles: [
      { audio_codec: codec === 'mpeg2' ? 'mp2' : 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1 },
    ],
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  }
}
