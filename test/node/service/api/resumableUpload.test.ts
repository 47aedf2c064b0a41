// In charge of: an upload by the tus client that is interrupted three times, against the real service. LONG=1 sends 200
// MB and prints the duration.
import { createHash, randomFillSync } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import * as client from 'tus-js-client'
import { Upload, type UploadOptions, type UrlStorage } from 'tus-js-client'
import { childrenOf } from '../../../../scripts/local/processes/processGroup.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'

// Only its Node build exports it, but its types are those of the browser build.
const { FileUrlStorage } = client as unknown as { FileUrlStorage: new (path: string) => UrlStorage }

const LONG = process.env['LONG'] === '1'
const SIZE = (LONG ? 200_000_000 : 30_000_000) + 12_345
const CHUNK_BYTES = LONG ? 16_000_000 : 7_000_000

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  service = resources.use(await Service.start())
})

/** Forwards connections; the one that carries the given byte, counted over all, is reset. */
async function resetting(target: URL, atByte: number) {
  const seen = { bytes: 0, resets: 0 }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    client.on('data', (data) => {
      seen.bytes += data.length
      if (seen.resets > 0 || seen.bytes < atByte) return
      seen.resets++
      client.resetAndDestroy()
      upstream.resetAndDestroy()
    })
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return { port, seen, [Symbol.dispose]: () => void server.close() }
}

/** The workerd process that runs our code: the other one listens on the public port. */
function runtime(): number | undefined {
  const { port } = new URL(service.base)
  const host = service.worker()?.pid
  const all = host === undefined ? [] : childrenOf(host).filter(({ program }) => program === 'workerd')
  return all.find(({ argv }) => !argv.some((part) => part.endsWith(`:${port}`)))?.pid
}

function options(change: Partial<UploadOptions>): UploadOptions {
  return {
    endpoint: `${service.base}/uploads`,
    headers: { authorization: `Basic ${Buffer.from(`${service.ready.api_key}:`).toString('base64')}` },
    retryDelays: Array.from({ length: 300 }, () => 100),
    metadata: { filename: 'film.mp4', filetype: 'video/mp4' },
    ...change,
  }
}

async function sha256(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of stream) hash.update(piece)
  return hash.digest('hex')
}

async function peakMiB(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024)
}

test('a reset in the middle of a chunk, SIGKILL of the Worker and a client that starts anew cost no byte', async () => {
  const file = tempDir.file('film.bin')
  await writeFile(file, randomFillSync(Buffer.alloc(SIZE)))
  using proxy = await resetting(new URL(service.base), SIZE / 4)
  const store = tempDir.file('uploads.json')
  let killed = 0
  const offsets: number[] = []
  const common: Partial<UploadOptions> = {
    endpoint: `http://127.0.0.1:${proxy.port}/uploads`,
    chunkSize: CHUNK_BYTES,
    storeFingerprintForResuming: true,
    onAfterResponse: (request, response) => {
      if (request.getMethod() === 'HEAD') offsets.push(Number(response.getHeader('Upload-Offset') ?? Number.NaN))
    },
  }
  const started = performance.now()
  // Ends when its client is aborted, after three quarters.
  await new Promise<void>((done, failed) => {
    const upload = new Upload(
      createReadStream(file),
      options({
        ...common,
        urlStorage: new FileUrlStorage(store),
        onError: failed,
        onSuccess: () => failed(new Error('it ended before it was given up')),
        onProgress: (sent) => {
          const killedProcess = sent > SIZE / 2 && killed === 0 ? runtime() : undefined
          if (killedProcess !== undefined) {
            killed++
            process.kill(killedProcess, 'SIGKILL')
          }
          if (sent > (SIZE * 3) / 4) void upload.abort().finally(() => done())
        },
      }),
    )
    upload.start()
  })
  // A new client that has only the file of addresses.
  let address = ''
  await new Promise<void>((done, failed) => {
    const upload = new Upload(
      createReadStream(file),
      options({
        ...common,
        urlStorage: new FileUrlStorage(store),
        onError: failed,
        onSuccess: () => {
          address = upload.url ?? ''
          done()
        },
      }),
    )
    const resume = async (): Promise<void> => {
      const [previous] = await upload.findPreviousUploads()
      if (!previous) throw new Error('no earlier upload was found')
      upload.resumeFromPreviousUpload(previous)
      upload.start()
    }
    resume().catch(failed)
  })
  const seconds = (performance.now() - started) / 1000
  const peak = await peakMiB(runtime())
  expect({ resets: proxy.seen.resets, killed }).toEqual({ resets: 1, killed: 1 })
  expect(offsets.filter((offset) => offset > 0).length).toBeGreaterThanOrEqual(2)
  // The repeated part is bounded.
  const again = proxy.seen.bytes - SIZE
  expect(again).toBeLessThan(3 * CHUNK_BYTES)
  const stored = await service.call(new URL(address).pathname)
  expect([stored.status, stored.headers.get('content-length')]).toEqual([200, String(SIZE)])
  expect(await sha256(stored.body!)).toBe(await sha256(createReadStream(file)))
  if (LONG) {
    const rate = Math.round(SIZE / 1e6 / seconds)
    console.log(
      `${SIZE} bytes in ${seconds.toFixed(1)} s (${rate} MB/s), ${again} sent again, workerd ${peak} MiB at most since its restart`,
    )
  }
})

test('a job accepts the address of the upload immediately', async () => {
  await waitFor('the service to be back', async () => (await service.call('/health').catch(() => null))?.status === 200)
  const clip = await makeClip(tempDir.file('clip.mp4'), { seconds: 2 })
  const input = await new Promise<string>((done, failed) => {
    const upload = new Upload(
      createReadStream(clip),
      options({ uploadDataDuringCreation: true, onError: failed, onSuccess: () => done(upload.url ?? '') }),
    )
    upload.start()
  })
  const id = await service.create(jobRequest(input, 'file-upload'))
  expect(await service.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })
})
