// In charge of: Amazon's published examples ("Examples: Signature Calculations in AWS Signature Version 4"), for the
// signer and for the test server's verifier, which share no code.
import { describe, expect, test } from 'vitest'
import { encodeKey } from '../../../../worker/storage/s3/bucketAddress.ts'
import { sigV4Presigner, sigV4Signer } from '../../../../worker/storage/s3/sigV4.ts'
import { parseAuthorization, expectedSignature, parsePresignedQuery } from '../../../fakes/sigV4Check.ts'

const accessKey = 'AKIAIOSFODNN7EXAMPLE'
const secretKey = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const HOST = 'examplebucket.s3.amazonaws.com'
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const at = Date.UTC(2013, 4, 24)

const examples: [
  name: string,
  method: string,
  target: string,
  headers: Record<string, string>,
  hash: string,
  signature: string,
][] = [
  [
    'GET Object',
    'GET',
    '/test.txt',
    { range: 'bytes=0-9' },
    EMPTY,
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'PUT Object',
    'PUT',
    '/test%24file.text',
    { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'GET Bucket Lifecycle',
    'GET',
    '/?lifecycle=',
    {},
    EMPTY,
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'GET Bucket',
    'GET',
    '/?max-keys=2&prefix=J',
    {},
    EMPTY,
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
]

describe('Amazon’s examples', () => {
  test.each(examples)('the verifier: %s', (_, method, target, headers, hash, signature) => {
    const all = { host: HOST, ...headers, 'x-amz-content-sha256': hash, 'x-amz-date': '20130524T000000Z' }
    const signedHeaders = Object.keys(all).toSorted()
    const claim = { accessKey, date: '20130524', region: 'us-east-1', service: 's3', signedHeaders, signature }
    expect(expectedSignature({ method, target, headers: new Map(Object.entries(all)) }, claim, secretKey)).toBe(
      signature,
    )
  })

  // The example in "Authenticating Requests: Using Query Parameters".
  test('the verifier: a presigned address', () => {
    const target =
      '/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
    const found = parsePresignedQuery({ method: 'GET', target, headers: new Map([['host', HOST]]) })
    expect(found).toMatchObject({ date: '20130524T000000Z', seconds: 86_400, claim: { accessKey } })
    expect(expectedSignature(found!.request, found!.claim, secretKey)).toBe(found?.claim.signature)
  })

  // The signer never signs Range, because proxies may change it.
  test.each(examples.slice(1))('the signer: %s', async (_, method, target, headers, bodyHash, signature) => {
    const sign = sigV4Signer({ accessKey, secretKey }, 'us-east-1', () => at)
    const made = await sign({ method, url: `https://${HOST}${target}`, headers: new Headers(headers), bodyHash })
    expect(parseAuthorization(made.get('authorization') ?? '')).toMatchObject({
      accessKey,
      region: 'us-east-1',
      signature,
    })
  })
})

const keys = [
  'a b',
  'a+b',
  '100%',
  '%2F',
  '%20',
  'a//b',
  '/a',
  'ü/漢字/😀',
  '~tilde',
  'QualityLevels(500000)/Fragments(video=0)',
  `!*'()&?#"<>;:@$,=|^\`{}[]`,
]
test.each(keys)('the key %j reaches the server as it is, with the signature that the server expects', async (key) => {
  const sign = sigV4Signer({ accessKey, secretKey, sessionToken: 'token' }, 'eu-west-1', () => at)
  const url = `https://${HOST}/${encodeKey(key)}?uploadId=${encodeURIComponent('a+b/c=')}`
  const headers = await sign({ method: 'PUT', url, headers: new Headers(), bodyHash: null })
  const sent = new URL(url)
  expect(sent.href).toBe(url)
  expect(decodeURIComponent(sent.pathname.slice(1))).toBe(key)
  const claim = parseAuthorization(headers.get('authorization') ?? '')
  expect(claim?.signedHeaders).toEqual(['host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'])
  const request = { method: 'PUT', target: sent.pathname + sent.search, headers: new Map([...headers, ['host', HOST]]) }
  expect(expectedSignature(request, claim!, secretKey)).toBe(claim?.signature)
  expect(expectedSignature(request, claim!, `${secretKey}x`)).not.toBe(claim?.signature)
})

test.each(keys)('the presigned address of the key %j has the signature that the server expects', async (key) => {
  const presign = sigV4Presigner({ accessKey, secretKey }, 'eu-west-1', () => at + 599_000)!
  const url = new URL(await presign(`https://${HOST}/${encodeKey(key)}`))
  expect(decodeURIComponent(url.pathname.slice(1))).toBe(key)
  const found = parsePresignedQuery({
    method: 'GET',
    target: url.pathname + url.search,
    headers: new Map([['host', HOST]]),
  })!
  // The address is the same for ten minutes, and valid for an hour after them.
  expect(found).toMatchObject({ date: '20130524T000000Z', seconds: 4200, claim: { accessKey, region: 'eu-west-1' } })
  expect(expectedSignature(found.request, found.claim, secretKey)).toBe(found.claim.signature)
  expect(expectedSignature({ ...found.request, method: 'PUT' }, found.claim, secretKey)).not.toBe(found.claim.signature)
  expect(url.href).not.toContain(secretKey)
})

test('temporary credentials make no addresses: their token would be in them', () => {
  expect(sigV4Presigner({ accessKey, secretKey, sessionToken: 'token' }, 'eu-west-1')).toBeUndefined()
  expect(sigV4Presigner({ accessKey, secretKey, sessionToken: null }, 'eu-west-1')).toBeDefined()
})
