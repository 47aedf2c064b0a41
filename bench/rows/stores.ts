// In charge of: the peak memory of the transcoder and the Worker for a job that reads 3 GB from S3 and writes 3 GB to
// it, and whether the stored objects match what was announced.
// Not in charge of: the speed of S3: the server runs on this machine, verifies signatures and stores parts as files.
import { createHash } from 'node:crypto'
import { createReadStream, writeFileSync } from 'node:fs'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '../../client/nodeClient.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import { S3Server } from '../../test/fakes/s3Server.ts'
import { locateEngine } from '../../transcoder/ffmpeg/locate.ts'
import { followJob } from '../waitForJob.ts'
import { startService } from '../benchService.ts'
import type { BenchOptions, Row } from '../table.ts'
import { makeLarge, peakMb } from './memory.ts'

const TRANSCODER_MB = 150
/** Memory limit of an isolate on Cloudflare. */
const ISOLATE_MB = 128
/** Uncompressed frames of a small size, so that the source lasts as long as an output of 3 GB at 60 Mb/s. */
const LARGE = { width: 480, height: 320, bytes: 3_000_000_000 }
const KEYS = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'secret' }

export async function stores({ note }: BenchOptions): Promise<Row[]> {
  const engine = await locateEngine(process.env)
  let directory = ''
  await using s3 = await S3Server.start({
    accounts: [KEYS],
    buckets: ['films'],
    discard: true,
    equalParts: true,
    onPart: (n, bytes) => writeFileSync(join(directory, String(n).padStart(5, '0')), bytes),
  })
  await using service = await startService({ ALLOW_PRIVATE_HOSTS: s3.host })
  const path = join(service.workDir, 'large.mov')
  directory = join(service.workDir, 'parts')
  await mkdir(directory)
  await makeLarge(engine.ffmpeg, path, LARGE)
  const { size } = await stat(path)
  s3.putFile('films/large.mov', path, size, 'video/quicktime')
  const names = ['transcoder', 'node of the Worker', ...service.workerPids.slice(1).map((_, n) => `workerd ${n}`)]
  const peaks = (): number[] => [service.transcoderPid, ...service.workerPids].map((pid) => peakMb(pid))
  const idle = peaks()
  const client = new Client(service.baseUrl, service.apiKey)
  const began = performance.now()
  const { phases, status } = await followJob(client, await client.create(order(s3.host)))
  const seconds = (performance.now() - began) / 1000
  const after = peaks()
  const written = status.outputs[0]?.size ?? 0
  const arrived = createHash('sha256')
  for (const name of (await readdir(directory)).toSorted())
    for await (const chunk of createReadStream(join(directory, name))) arrived.update(chunk as Buffer)
  if (arrived.digest('hex') !== status.outputs[0]?.sha256) throw new Error('What arrived is not what was announced.')
  note(
    `${(size / 1e9).toFixed(2)} GB in, ${(written / 1e9).toFixed(2)} GB out with the announced SHA-256 in ${seconds.toFixed(1)} s (${phases})`,
  )
  for (const [n, name] of names.entries()) {
    note(`${name}: peak ${idle[n]?.toFixed(0)} MB when idle, ${after[n]?.toFixed(0)} MB after`)
  }
  const counted = (what: string): number => s3.log.filter((line) => line.startsWith(`${what} `)).length
  note(`${counted('GetObject')} reads, ${counted('UploadPart')} parts, ${s3.uploads.size} uploads left`)
  const row = (name: string, mb: number, goal: number): Row => ({
    name: `${name}, 3 GB from S3 and ${(written / 1e9).toFixed(1)} GB to it`,
    ours: `${mb.toFixed(0)} MB`,
    baseline: '–',
    ratio: null,
    goal: `< ${goal} MB`,
    goalMet: mb < goal,
  })
  // Memory of the runtimes before the job, with compiled code, is subtracted; there are several.
  const growth = after.slice(2).map((mb, n) => mb - (idle[n + 2] ?? 0))
  return [
    row('transcoder’s peak memory', after[0] ?? 0, TRANSCODER_MB),
    row('what workerd’s memory grows by', Math.max(...growth), ISOLATE_MB),
  ]
}

/** MPEG-2 at its highest rate: many bytes for little CPU time. */
function order(host: string): JobRequest {
  return {
    input: 's3://films/large.mov',
    output_container: 'ts',
    video_codec: 'mpeg2',
    bucket_output_path: 's3://films/out',
    videoProfiles: [{ output: 'large.ts', width: 1280, height: 720, video_bitrate_mode: 'cbr', video_bitrate: 60_000 }],
    audioProfiles: [],
    cloud_credentials: {
      input: {
        cloud_provider: 'aws',
        access_key: KEYS.accessKey,
        secret_key: KEYS.secretKey,
        endpoint: `http://${host}`,
      },
    },
  }
}
