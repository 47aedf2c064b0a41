// In charge of: every field of a job that holds an address × every form of a forbidden address: no request is sent,
// with production's policy and with the local one; directly, after a redirect, and inside a playlist.
// Not in charge of: names that resolve to such addresses (test/node/scripts/egress.test.ts, where sockets are).
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openResource, openHlsPresentation } from '../../../worker/taskApi/hlsSource/hlsPresentation.ts'
import { httpSource } from '../../../worker/storage/http/httpSource.ts'
import { httpSink } from '../../../worker/storage/http/httpSink.ts'
import { s3BucketAddress } from '../../../worker/storage/s3/bucketAddress.ts'
import { sigV4Signer } from '../../../worker/storage/s3/sigV4.ts'
import { s3Sink } from '../../../worker/storage/s3/s3Sink.ts'
import { s3Source } from '../../../worker/storage/s3/s3Source.ts'
import type { FetchFunction } from '../../../worker/storage/guardedFetch.ts'
import { guardedFetch, guardedTransport } from '../../../worker/storage/guardedFetch.ts'
import { r2Sink, r2Source } from '../../../worker/storage/r2/r2Store.ts'
import { addressProblem } from '../../../worker/storage/addressPolicy.ts'
import { settings } from '../../../worker/env.ts'
import { jobBody, postJson } from '../support/apiClient.ts'
import { FORBIDDEN_ADDRESSES } from './forbiddenAddresses.ts'

const START = 'https://public.example.com/start'
const bytes = new Uint8Array(8)
const store = (endpoint: string, transport: FetchFunction) => ({
  provider: 'aws',
  bucketAddress: s3BucketAddress('films', 'us-east-1', endpoint),
  transport,
  supportsDeleteObjects: true,
  sign: sigV4Signer({ accessKey: 'A', secretKey: 'B' }, 'us-east-1'),
})

/** The requests that each field causes for an address; all of them must fail. */
const fields: Record<string, (address: string, transport: FetchFunction) => Promise<unknown>[]> = {
  input: (address, transport) => [
    httpSource(address, {}, transport).stat(),
    httpSource(address, {}, transport).read({ offset: 0, length: 1 }),
  ],
  'input, a playlist and what it names': (address, transport) => [
    (async () => openHlsPresentation(new URL(address), {}, transport))(),
    (async () => openResource(new URL(address), new URL(START), {}, transport).read(null))(),
  ],
  logo_url: (address, transport) => [transport(address)],
  // As the webhook scheduler sends it; a job that names such an address is refused at creation (below).
  webhook_url: (address, transport) => [transport(address, { method: 'POST', headers: {}, body: '{}' })],
  endpoint: (address, transport) => [
    s3Source(store(address, transport), 'k').read(null),
    s3Sink(store(address, transport), '').put('k', bytes, 8, 'video/mp4'),
    s3Sink(store(address, transport), '').beginUpload('k', 'video/mp4'),
  ],
  bucket_output_path: (address, transport) => {
    const staging = { sink: r2Sink(env.BUCKET, 'work/x/'), open: (path: string) => r2Source(env.BUCKET, path) }
    const sink = httpSink({ root: address.replace(/\/+$/, ''), access: {}, transport, staging })
    return [
      sink.put('k', bytes, 8, 'video/mp4'),
      sink.stat('k'),
      sink.delete('k'),
      sink.probeWrite!('d', async () => undefined),
    ]
  },
}

test('the table has the hundred forms that it promises', () => {
  expect(FORBIDDEN_ADDRESSES.length).toBeGreaterThanOrEqual(100)
})

for (const policy of ['platform', 'pinned']) {
  const vars = { EGRESS: policy, ALLOW_PRIVATE_HOSTS: '' } as unknown as Env
  test.each(Object.entries(fields))(`${policy}: %s: no form of a forbidden address is asked`, async (_field, calls) => {
    const hits: string[] = []
    const fetch = async (url: string) => {
      hits.push(url)
      return new Response('canary')
    }
    const passed: string[] = []
    for (const [title, address] of FORBIDDEN_ADDRESSES) {
      for (const call of calls(address, guardedTransport(vars, { fetch }))) {
        await call.then(
          () => passed.push(title),
          () => undefined,
        )
      }
    }
    expect(passed).toEqual([])
    expect(hits).toEqual([])
  })

  test(`${policy}: none of them is accepted in a request`, () => {
    const accepted = FORBIDDEN_ADDRESSES.filter(([, address]) => addressProblem(address, settings(vars), 'f') === null)
    expect(accepted).toEqual([])
    expect(addressProblem('https://hooks.example.com/in', settings(vars), 'f')).toBeNull()
  })

  test(`${policy}: no redirect leads to one`, async () => {
    const hits: string[] = []
    for (const [, address] of FORBIDDEN_ADDRESSES) {
      // A text that is not an absolute address is relative to the redirecting one, which is public; and a header holds
      // only ASCII.
      if (URL.parse(address) === null || /[^ -~]/.test(address)) continue
      const fetch = async (url: string) => {
        if (url !== START) hits.push(url)
        return new Response(null, { status: 302, headers: { location: address } })
      }
      await expect(guardedFetch(vars, START, {}, { fetch })).rejects.toMatchObject({ code: 'address_refused' })
    }
    expect(hits).toEqual([])
  })
}

test('every field of a job that names one is refused in the request, behind a query too', async () => {
  const profile = { width: 640, height: 360, video_bitrate_mode: 'vbr', video_bitrate: 600 }
  const key = { cloud_provider: 'aws', access_key: 'A', secret_key: 'B' }
  const web = {
    input: undefined,
    inputs: [{ input: 'https://media.test/a.mp4' }, { input: 'http://127.0.0.1/film.mp4?token=1' }],
    captions: [{ input: 'http://[::1]/film.srt', language: 'en' }],
    logo_url: 'http://10.0.0.1/logo.png?token=1',
    webhook_url: 'https://metadata.internal/',
    videoProfiles: [{ ...profile, output: 'http://192.168.1.1:9000/out/film.mp4' }],
    cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'http' } },
  }
  const s3 = {
    input: 's3://films/a.mp4',
    videoProfiles: [{ ...profile, output: 's3://films/b.mp4' }],
    cloud_credentials: {
      input: { ...key, endpoint: 'http://169.254.169.254' },
      output: { ...key, endpoint: 'https://localhost:9000' },
    },
  }
  const refused = async (body: object) => {
    const answer = await postJson('/api/v0/job', jobBody({ ...body }))
    const { error } = await answer.json<any>()
    return [answer.status, ...error.details.map(({ code, field }: any) => `${code} ${field}`)]
  }
  expect(await refused(web)).toEqual([
    400,
    'address_refused inputs[1].input',
    'address_refused captions[0].input',
    'address_refused logo_url',
    'address_refused webhook_url',
    'address_refused videoProfiles[0].output',
  ])
  expect(await refused(s3)).toEqual([
    400,
    'address_refused cloud_credentials.input.endpoint',
    'address_refused cloud_credentials.output.endpoint',
  ])
})
