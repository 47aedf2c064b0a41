// Usage of the real service: hours are compared with what ffprobe finds in the outputs, CSV is read by Python, and the
// webhooks of a spend cap by the receiver's library.
import { writeFile } from 'node:fs/promises'
import { Webhook } from 'standardwebhooks'
import { beforeAll, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import type { Usage } from '#contract/api/usage.ts'
import { findOnPath } from '../../../../transcoder/ffmpeg/sandbox.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { makeClip, probeFile, tempDirectory } from '../../../support/media/media.ts'
import { skipTest } from '../../../support/requirement.ts'
import { runProgram } from '../../../support/runProgram.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'
import { TestClient } from '../../../support/testClient.ts'

const SECONDS = 6
/** A second of output costs 1 EUR, copied ones and audio nothing. */
const PRICES = { currency: 'EUR', output_hour: { default: 3600, copy: 0, audio: 0 } }
const resources = fileResources()
let service: Service
let admin: TestClient
let receiver: LoopbackServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let input: string
const received: { headers: Record<string, string>; body: string }[] = []

beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  receiver = resources.use(
    await LoopbackServer.serve(async (request, response) => {
      const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
      received.push({ headers: request.headers as Record<string, string>, body })
      // The first message is lost on its way back, so that it is sent again.
      response.writeHead(received.length === 1 ? 503 : 204).end()
    }),
  )
  const prices = { USAGE_PRICES: JSON.stringify(PRICES), ALLOW_PRIVATE_HOSTS: receiver.host }
  service = resources.use(await Service.start(prices))
  admin = new TestClient(service.base, service.ready.admin_key)
  const clip = await makeClip(tempDir.file('clip.mp4'), { seconds: SECONDS, flags: ['-g', '25'] })
  input = await service.upload(clip)
})

const usage = async (): Promise<Usage> => (await service.call('/api/v0/usage')).json() as Promise<Usage>

async function quantity(item: string, usageClass: string): Promise<number> {
  const { lines } = await usage()
  return lines.find((line) => line.item === item && line.class === usageClass)?.quantity ?? 0
}
const outputSeconds = async (usageClass: string): Promise<number> => (await quantity('output_hours', usageClass)) * 3600

let files = 0
async function secondsOf(url: string): Promise<number> {
  const path = tempDir.file(`output-${files++}`)
  await writeFile(path, Buffer.from(await (await fetch(url)).arrayBuffer()))
  return Number((await probeFile(path)).format.duration)
}

async function completed(change: object): Promise<PublicStatus> {
  const status = await service.run(jobRequest(input, 'file-upload', change))
  expect(status).toMatchObject({ state: 'ready', error: null })
  return status
}

test('hours of files, segments, copied video and audio are those of the outputs; bytes are those that moved', async () => {
  const single = await completed({
    videoProfiles: [
      { output: 'a.mp4', width: 426, height: 240, video_bitrate: 300 },
      { output: 'b.mp4', width: 256, height: 144, video_bitrate: 150 },
    ],
    start_seconds: 1,
  })
  const lengths = await Promise.all(single.outputs.map(({ url }) => secondsOf(url!)))
  expect(await outputSeconds('240p h264')).toBeCloseTo(lengths[0]!, 1)
  expect(await outputSeconds('144p h264')).toBeCloseTo(lengths[1]!, 1)
  expect((await quantity('source_hours', '')) * 3600).toBeCloseTo(SECONDS - 1, 1)
  const stored = single.outputs.reduce((sum, { size }) => sum + size, 0)
  expect((await quantity('gb_out', '')) * 1e9).toBeCloseTo(stored, -4)
  expect((await quantity('gb_in', '')) * 1e9).toBeGreaterThan(1000)
  expect(await quantity('cpu_hours', '')).toBeGreaterThan(0)

  // Two manifests of one rendition: it counts once.
  const segmented = await completed({
    output_container: 'hls',
    segmented_output_hls: true,
    segmented_output_dash: true,
    bucket_output_path: 'show',
    segment_length: 2,
    gop_length: 1,
    videoProfiles: [{ output: 'low', width: 640, height: 360, video_bitrate: 400 }],
  })
  const playlist = segmented.outputs.find(({ media, role }) => role === 'playlist' && media?.video != null)
  const text = await (await fetch(playlist!.url!)).text()
  const listed = [...text.matchAll(/#EXTINF:([\d.]+)/g)].reduce((sum, [, seconds]) => sum + Number(seconds), 0)
  expect(await outputSeconds('360p h264')).toBeCloseTo(listed, 1)

  const copied = await completed({
    videoProfiles: [{ output: 'copy.mp4', video_codec: 'copy' }],
    audioProfiles: [{ audio_codec: 'copy', source_stream: '1' }],
  })
  expect(await outputSeconds('copy')).toBeCloseTo(await secondsOf(copied.outputs[0]!.url!), 1)

  const audio = await completed({
    videoProfiles: [],
    audioProfiles: [
      { audio_codec: 'aac', audio_container: 'm4a', audio_channels: '2', audio_bitrate: '96', source_stream: '1' },
    ],
  })
  expect(await outputSeconds('audio aac')).toBeCloseTo(await secondsOf(audio.outputs[0]!.url!), 1)

  const { lines, costs } = await usage()
  const expected = (await outputSeconds('240p h264')) + (await outputSeconds('144p h264')) + listed
  expect(costs).toHaveLength(1)
  expect(costs[0]!.amount).toBeCloseTo(expected, 0)
  expect(lines.find((line) => line.item === 'jobs')).toMatchObject({ class: 'completed', quantity: 4 })
})

test('a joined source counts with the sum of its pieces', async () => {
  const before = (await quantity('source_hours', '')) * 3600
  const { input: _, ...rest } = jobRequest(input, 'file-upload') as Record<string, unknown>
  const id = await service.create({
    ...rest,
    inputs: [{ input }, { input, start_seconds: 2 }],
    videoProfiles: [{ output: 'joined.mp4', width: 854, height: 480, video_bitrate: 700 }],
  })
  const status = await service.waitForEnd(id)
  expect(status).toMatchObject({ state: 'ready', error: null })
  const length = await secondsOf(status.outputs[0]!.url!)
  expect(length).toBeCloseTo(2 * SECONDS - 2, 0)
  expect(await outputSeconds('480p h264')).toBeCloseTo(length, 1)
  expect((await quantity('source_hours', '')) * 3600 - before).toBeCloseTo(length, 0)
})

test('Python reads the CSV, and finds the lines of the JSON', async (context) => {
  if ((await findOnPath('python3')) === null) skipTest(context, 'python3 is not installed')
  const response = await admin.call('/api/v0/usage/accounts?format=csv')
  expect(response.headers.get('content-type')).toMatch(/^text\/csv/)
  const program = 'import csv, json, sys; print(json.dumps(list(csv.DictReader(sys.stdin, strict=True))))'
  const input = Buffer.from(await response.arrayBuffer())
  const { stdout, stderr } = await runProgram('python3', ['-c', program], { input })
  expect(stderr).toBe('')
  const rows = JSON.parse(stdout) as Record<string, string>[]
  const { lines, month, account } = await usage()
  expect(rows.length).toBeGreaterThan(5)
  expect(rows).toEqual(
    lines.map((line) => ({
      month,
      account,
      item: line.item,
      class: line.class,
      quantity: String(line.quantity),
      unit_price: String(line.unit_price),
      currency: 'EUR',
      cost: String(line.cost),
    })),
  )
})

test('a spend cap tells at 80 % and at 100 %, once each, and refuses the next job', async () => {
  const { costs } = await usage()
  const spent = costs[0]!.amount
  const rotated = await service.call('/api/v0/webhooks/secret/rotate', { method: 'POST' })
  const { secret } = (await rotated.json()) as { secret: string }
  // Spent already: less than 80 %. The two seconds of each of the following jobs cross 80 %, then 100 %.
  const cap = Math.ceil(spent + 6 + 0.25 * spent)
  const put = await admin.call('/api/v0/accounts/default/spend-cap', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ spend_cap: cap, spend_webhook_url: `${receiver.url}/spending` }),
  })
  expect(put.status).toBe(200)
  const request = jobRequest(input, 'file-upload', { audioProfiles: [] })
  for (let n = 0; n < 10 && (await usage()).spend_cap!.spent < cap; n++)
    expect(await service.run(request)).toMatchObject({ state: 'ready', error: null })
  const refused = await service.call('/api/v0/job', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  expect(refused.status).toBe(402)
  expect(await refused.json()).toMatchObject({ error: { code: 'spend_cap_reached', details: { spend_cap: cap } } })
  await waitFor('both webhooks', async () => (await usage()).notices.every(({ state }) => state === 'delivered'))
  expect((await usage()).notices.map(({ percent }) => percent)).toEqual([80, 100])
  const messages = received.map(({ headers, body }) => ({
    id: headers['webhook-id'],
    ...(new Webhook(secret).verify(body, headers) as { type: string; data: { percent: number; spend_cap: number } }),
  }))
  expect(new Map(messages.map(({ id, data }) => [id, data.percent])).size).toBe(2)
  expect(messages.map(({ type }) => type).toSorted()).toEqual([
    'spend_cap.reached',
    'spend_cap.warning',
    'spend_cap.warning',
  ])
  expect(messages.every(({ data }) => data.spend_cap === cap)).toBe(true)
})
