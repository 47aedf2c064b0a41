// In charge of: every field of a job that holds an address × every form of an address that is not to be reached: nothing is
// sent, in production's policy and in the local one; directly, behind a redirect, and inside a playlist.
// Not in charge of: names that resolve to such addresses (test/node/scripts/egress.test.ts, where sockets are).
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openPiece, openPresentation } from '../../../worker/taskApi/hlsSource/hlsPresentation.ts'
import { httpSource } from '../../../worker/storage/http/httpSource.ts'
import { httpSink } from '../../../worker/storage/http/httpSink.ts'
import { s3Place } from '../../../worker/storage/s3/bucketAddress.ts'
import { sigV4 } from '../../../worker/storage/s3/sigV4.ts'
import { xmlSink } from '../../../worker/storage/s3/s3Sink.ts'
import { xmlSource } from '../../../worker/storage/s3/s3Source.ts'
import type { Transport } from '../../../worker/storage/guardedFetch.ts'
import { hookProblem } from '../../../worker/webhooks/webhookAddress.ts'
import { guardedFetch, guardedTransport } from '../../../worker/storage/guardedFetch.ts'
import { vendorSink, vendorSource } from '../../../worker/storage/r2/r2Store.ts'
import { forbidden } from './forbiddenAddresses.ts'

const START = 'https://public.example.com/start'
const bytes = new Uint8Array(8)
const store = (endpoint: string, transport: Transport) => ({
  provider: 'aws',
  place: s3Place('films', 'us-east-1', endpoint),
  transport,
  deletesMany: true,
  sign: sigV4({ accessKey: 'A', secretKey: 'B' }, 'us-east-1'),
})

/** What each field makes of its address; all of it must fail. */
const fields: Record<string, (address: string, transport: Transport) => Promise<unknown>[]> = {
  input: (address, transport) => [
    httpSource(address, {}, transport).stat(),
    httpSource(address, {}, transport).read({ offset: 0, length: 1 }),
  ],
  'input, a playlist and what it names': (address, transport) => [
    openPresentation(address, {}, transport),
    (async () => openPiece(address, START, {}, transport).read(null))(),
  ],
  logo_url: (address, transport) => [transport(address)],
  // As webhooks.ts delivers; a job that names such an address is not even created (below).
  webhook_url: (address, transport) => [transport(address, { method: 'POST', headers: {}, body: '{}' })],
  endpoint: (address, transport) => [
    xmlSource(store(address, transport), 'k').read(null),
    xmlSink(store(address, transport), '').put('k', bytes, 8, 'video/mp4'),
    xmlSink(store(address, transport), '').beginUpload('k', 'video/mp4'),
  ],
  bucket_output_path: (address, transport) => {
    const staging = { sink: vendorSink(env.BUCKET, 'work/x/'), open: (path: string) => vendorSource(env.BUCKET, path) }
    const sink = httpSink({ root: address.replace(/\/+$/, ''), access: {}, transport, staging })
    return [
      sink.put('k', bytes, 8, 'video/mp4'),
      sink.stat('k'),
      sink.delete('k'),
      sink.tryOut!('d', async () => undefined),
    ]
  },
}

test('the table has the hundred forms that it promises', () => {
  expect(forbidden.length).toBeGreaterThanOrEqual(100)
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
    for (const [title, address] of forbidden) {
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

  test(`${policy}: webhook_url: none of them is accepted from a job or a key`, () => {
    const accepted = forbidden.filter(([, address]) => hookProblem(vars, address) === null)
    // No address at all: nobody is told.
    expect(accepted).toEqual([['nothing', '']])
    expect(hookProblem(vars, 'https://hooks.example.com/in')).toBeNull()
  })

  test(`${policy}: no redirect leads to one`, async () => {
    const hits: string[] = []
    for (const [, address] of forbidden) {
      // What is no address at all is relative to the one that redirects, which is public; and a header holds ASCII.
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
