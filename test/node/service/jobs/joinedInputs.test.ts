// In charge of: jobs with `inputs` through the whole service: pieces from an upload, an HTTP server and S3, each read with
// its own credentials; dry runs and errors of such jobs.
// Not in charge of: what is joined and how (test/node/transcoder/pipeline/joins.test.ts), many pieces
// (manyInputs.long.test.ts).
import { createReadStream } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { S3Server } from '../../../fakes/s3Server.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { jobRequest, Service } from '../../../support/service.ts'

const keys = { accessKey: 'AKIACANARYKEY7EXAMPLE', secretKey: 'canary+secret/key', token: 'canary-token' }
const BASIC = `Basic ${btoa('reader:canary-password')}`
const TOKEN = 'canary-of-the-query'

let service: Service
let s3: S3Server
let web: LoopbackServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const clip = await makeNumberedClip(tempDir.file('clip.mp4'), { seconds: 3 })
  const { size } = await stat(clip)
  web = resources.use(
    // Without its credentials and its query, this server has nothing.
    await LoopbackServer.serve((request, response) => {
      const isKnown = request.headers.authorization === BASIC && request.url === `/film.mp4?token=${TOKEN}`
      if (!isKnown) return void response.writeHead(403).end()
      const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? 'bytes=0-') ?? []
      const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
      response.writeHead(206, {
        etag: '"1"',
        'content-length': String(end - Number(first) + 1),
        'content-range': `bytes ${first}-${end}/${size}`,
      })
      createReadStream(clip, { start: Number(first), end }).pipe(response)
    }),
  )
  s3 = resources.use(
    await S3Server.start({ accounts: [keys], buckets: ['films'], region: 'eu-west-1', equalParts: true }),
  )
  s3.put('films/credits.mp4', await readFile(clip), 'video/mp4')
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: [s3.host, web.host].join(',') }))
})

const upload = { cloud_provider: 'file-upload' }
const http = { cloud_provider: 'http', access_key: 'reader', secret_key: 'canary-password' }
const aws = () => ({
  cloud_provider: 'aws',
  access_key: keys.accessKey,
  secret_key: keys.secretKey,
  session_token: keys.token,
  region: 'eu-west-1',
  endpoint: `http://${s3.host}`,
})
const film = () => `${web.url}/film.mp4?token=${TOKEN}`

const joined = (inputs: object[], stores: object, change: object = {}) => ({
  ...jobRequest('', 'file-upload', {
    videoProfiles: [{ output: 'joined.mp4', width: 192, height: 48, video_bitrate: 500 }],
    ...change,
  }),
  input: undefined,
  inputs,
  cloud_credentials: { ...stores, output: { cloud_provider: 'vendor-store' } },
})

/** The frames of the only output of a job. */
async function framesOf({ outputs }: PublicStatus, name: string): Promise<number[]> {
  const bytes = Buffer.from(await (await fetch(outputs[0]?.url ?? '')).arrayBuffer())
  await writeFile(tempDir.file(name), bytes)
  return frameNumbers(tempDir.file(name))
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

test('pieces of an upload, an HTTP server and S3 become one video, frame by frame, and no secret is shown', async () => {
  const address = await service.upload(tempDir.file('clip.mp4'))
  const inputs = [
    { input: address, end_seconds: 0.4 },
    { input: film(), start_seconds: '00:00:01:00', end_seconds: 2 },
    { input: 's3://films/credits.mp4', start_seconds: 2.8 },
  ]
  const id = await service.create(joined(inputs, { inputs: [upload, http, aws()] }))
  const status = await service.waitForEnd(id)
  expect(status, JSON.stringify(status.error)).toMatchObject({ state: 'ready', error: null })
  expect(await framesOf(status, 'joined.mp4')).toEqual([...range(0, 10), ...range(25, 50), ...range(70, 75)])
  const shown = await Promise.all(
    [`/api/v0/job/${id}`, `/api/v0/job/${id}/log`, `/api/v0/job/${id}/events`].map(async (path) =>
      (await service.call(path)).text(),
    ),
  )
  for (const text of [...shown, service.stderr(), service.stdout.join('\n')]) expect(text).not.toMatch(/canary/i)
})

test('a dry run plans them, and one source that is not there is named', async () => {
  const inputs = [{ input: film() }, { input: film() }]
  const made = await service.call('/api/v0/job?dry_run=true', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(joined(inputs, { input: http })),
  })
  const planned = await service.waitForEnd(((await made.json()) as { _auto_generated_id_: number })._auto_generated_id_)
  expect(planned).toMatchObject({ error: null, source: { duration_seconds: expect.closeTo(6, 1) } })
  const missing = [{ input: film() }, { input: `${web.url}/nothing.mp4` }]
  const failed = await service.run(joined(missing, { input: http }))
  expect(failed.error).toMatchObject({ code: 'source_forbidden', field: 'inputs[1].input' })
  // The credentials of the first are not those of the second.
  const swapped = await service.run(joined(inputs, { inputs: [http, { cloud_provider: 'http' }] }))
  expect(swapped.error).toMatchObject({ code: 'source_forbidden', field: 'inputs[1].input' })
})

test('a playlist among several sources is refused by name', async () => {
  await writeFile(tempDir.file('list.m3u8'), '#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/a.ts\n#EXT-X-ENDLIST\n')
  const [clip, list] = [await service.upload(tempDir.file('clip.mp4')), await service.upload(tempDir.file('list.m3u8'))]
  const status = await service.run(joined([{ input: clip }, { input: list }], { input: upload }))
  expect(status.error).toMatchObject({ code: 'unsupported_combination', field: expect.stringMatching(/^inputs\[1\]/) })
  expect(status.error?.message).toContain('playlist')
})
