// In charge of: a job that is divided into chunks against the same job as one task: time, CPU time, size; with one
// transcoder and with two.
// Not in charge of: the frames at the joins (test/node/transcoder/plan/division), their quality.
import { Client } from '../../client/nodeClient.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { locateEngine } from '../../transcoder/ffmpeg/locate.ts'
import { startService } from '../benchService.ts'
import { CLIP, makeClip } from '../ladderClip.ts'
import { median, stopwatch } from '../stopwatch.ts'
import { ratioRow, type BenchOptions, type Row } from '../table.ts'
import { followJob } from '../waitForJob.ts'

const RUNS = 3
const CHUNK_SECONDS = 10
const RUNGS = [
  { output: '720p', width: 1280, height: 720, video_bitrate: 2800 },
  { output: '360p', width: 640, height: 360, video_bitrate: 800 },
] as const
/** Of chunks against one task. The samples that find the rate of a clip this short cost as much as the clip. */
const SIZE_GOAL = 1.02

function order(input: string, maxChunkSeconds: number): JobRequest {
  return {
    input,
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    segment_length: 2,
    video_codec: 'h.264',
    max_chunk_seconds: maxChunkSeconds,
    videoProfiles: RUNGS.map((rung) => ({ ...rung, video_bitrate_mode: 'vbr' as const })),
    audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }],
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  }
}

interface Side {
  seconds: number[]
  cpu: number[]
  /** Stored bytes of all segments. */
  bytes: number[]
}

export async function chunks({ runs, note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  const source = await makeClip(engine.ffmpeg)
  const rows: Row[] = []
  for (const transcoders of [1, 2]) {
    await using service = await startService({ TRANSCODERS: `${transcoders}` })
    const client = new Client(service.baseUrl, service.apiKey)
    const { input } = await client.upload(source, 'clip.mp4')
    const sides: Record<'divided' | 'whole', Side> = {
      divided: { seconds: [], cpu: [], bytes: [] },
      whole: { seconds: [], cpu: [], bytes: [] },
    }
    for (let run = 0; run < (runs ?? RUNS); run++) {
      for (const [name, chunkSeconds] of [
        ['whole', 0],
        ['divided', CHUNK_SECONDS],
      ] as const) {
        const read = stopwatch()
        const { status, phases } = await followJob(client, await client.create(order(input, chunkSeconds)))
        const usage = read()
        const side = sides[name]
        side.seconds.push(usage.seconds)
        side.cpu.push(usage.cpuSeconds)
        side.bytes.push(status.outputs.reduce((sum, { segments }) => sum + (segments?.bytes ?? 0), 0))
        note(
          `${transcoders} transcoder(s), ${name}: ${usage.seconds.toFixed(1)} s, CPU ${usage.cpuSeconds.toFixed(1)} s, ${side.bytes.at(-1)} bytes; ${phases}`,
        )
      }
    }
    rows.push(...compared(transcoders, sides))
  }
  return rows
}

function compared(transcoders: number, { divided, whole }: Record<'divided' | 'whole', Side>): Row[] {
  const name = `${CLIP.seconds} s in chunks of ${CHUNK_SECONDS} s, ${transcoders} transcoder${transcoders > 1 ? 's' : ''}`
  const pair = (which: keyof Side): [number, number] => [median(divided[which]), median(whole[which])]
  return [
    ratioRow(`${name}, wall, against one task`, pair('seconds'), null, inSeconds),
    ratioRow(`${name}, CPU, against one task`, pair('cpu'), null, inSeconds),
    ratioRow(`${name}, size, against one task`, pair('bytes'), SIZE_GOAL, (bytes) => `${(bytes / 1e6).toFixed(2)} MB`),
  ]
}

const inSeconds = (value: number): string => `${value.toFixed(2)} s`
