// In charge of: the peak memory of the transcoder's Node process for an input of 2 GB that is read over http.
// Not in charge of: ffmpeg's memory (transcoder/ffmpeg/run.ts limits it).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFileSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '../../client/nodeClient.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { locateEngine } from '../../transcoder/ffmpeg/locate.ts'
import { ffmpeg } from '../ffmpeg.ts'
import { serveFile } from '../fileServer.ts'
import { followJob } from '../waitForJob.ts'
import { startService } from '../benchService.ts'
import type { BenchOptions, Row } from '../table.ts'

const GOAL_MB = 150
/**
 * Uncompressed 4:2:2 in 720p: it needs no decoding, so the bytes arrive as fast as the transcoder can pass them on.
 */
const LARGE = { width: 1280, height: 720, bytes: 2_000_000_000 }
const LOOP_FRAMES = 25

export async function memory({ note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  const files = await serveFile()
  await using service = await startService({ ALLOW_PRIVATE_HOSTS: files.host })
  try {
    const path = join(service.workDir, 'large.mov')
    await makeLarge(engine.ffmpeg, path, LARGE)
    const { size } = await stat(path)
    const address = files.serve(path)
    const idle = peakMb(service.transcoderPid)
    const client = new Client(service.baseUrl, service.apiKey)
    const began = performance.now()
    const { phases } = await followJob(client, await client.create(order(address)))
    const seconds = (performance.now() - began) / 1000
    const peak = peakMb(service.transcoderPid)
    note(
      `${(size / 1e9).toFixed(2)} GB in ${seconds.toFixed(1)} s (${(size / 1e6 / seconds).toFixed(0)} MB/s; ${phases}); ` +
        `peak ${idle.toFixed(0)} MB when idle, ${peak.toFixed(0)} MB after`,
    )
    note(`read from the server: ${(files.bytesSent() / size).toFixed(3)} × the input`)
    return [
      {
        name: 'transcoder’s peak memory with a 2 GB input',
        ours: `${peak.toFixed(0)} MB`,
        baseline: '–',
        ratio: null,
        goal: `< ${GOAL_MB} MB`,
        goalMet: peak < GOAL_MB,
      },
    ]
  } finally {
    await files.close()
  }
}

/** One second of frames, repeated without encoding them again. */
async function makeLarge(
  program: string,
  path: string,
  { width, height, bytes }: { width: number; height: number; bytes: number },
): Promise<void> {
  const loop = `${path}.loop.mov`
  await ffmpeg(program, [
    ...[
      '-loglevel',
      'error',
      '-f',
      'lavfi',
      '-i',
      `testsrc2=size=${width}x${height}:rate=25`,
      '-frames:v',
      `${LOOP_FRAMES}`,
    ],
    ...['-pix_fmt', 'uyvy422', '-c:v', 'rawvideo', loop],
  ])
  const times = Math.ceil(bytes / (width * height * 2 * LOOP_FRAMES))
  await ffmpeg(program, [
    ...['-loglevel', 'error', '-stream_loop', `${times - 1}`, '-i', loop],
    ...['-c', 'copy', path],
  ])
  await rm(loop)
}

function order(input: string): JobRequest {
  return {
    input,
    output_container: 'mp4',
    video_codec: 'h.264',
    videoProfiles: [{ output: 'small.mp4', width: 320, height: 180, video_bitrate_mode: 'vbr', video_bitrate: 400 }],
    audioProfiles: [],
    cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
  }
}

/** Peak resident memory of the process since its start. */
function peakMb(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return (Number(kib) * 1024) / 1e6
}
