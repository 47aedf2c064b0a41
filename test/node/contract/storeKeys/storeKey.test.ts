// In charge of: which key an oracle or gcloud credential contains, and the errors about it.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readGoogleKey } from '#contract/job/stores/gcloudCredentials.ts'
import { readOracleKey } from '#contract/job/stores/oracleCredentials.ts'
import { readPem } from '#contract/job/storeKeys/pem.ts'
import { expectAccepted, fieldsAndCodes, expectRefused, request } from '../requestFixture.ts'

function makePem(modulusLength = 2048): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function fingerprintOf(text: string): string {
  const read = readPem(text)
  if (!read.ok) throw new Error(read.reason)
  return read.key.fingerprint
}

const pem = makePem()
const another = makePem()
const pair = { access_key: 'AKEY', secret_key: 'sEcReT+/key=' }
const ocids = {
  tenancy_ocid: 'ocid1.tenancy.oc1..aaaaaaaaba3pv6wkcr4jqae5f15p2b2m2yt2j6rx32uzr4h25vqstifsfdsq',
  user_ocid: 'ocid1.user.oc1..aaaaaaaat5nvwcna5j6aqzjcaty5eqbb6qt2jvpkanghtgdaqedqw3rynjq',
  oci_fingerprint: fingerprintOf(pem),
}
const account = {
  client_email: 'a@p.iam.gserviceaccount.com',
  private_key_id: 'kid',
  project_id: 'p',
  client_id: '1',
}
const oracle = { cloud_provider: 'oracle', region: 'eu-frankfurt-1' }
const gcloud = { cloud_provider: 'gcloud' }

function body(input: Record<string, unknown>): unknown {
  const address = input['cloud_provider'] === 'oracle' ? 'oci://ns/Films/a.mp4' : 'gs://films/a.mp4'
  return request({ input: address, cloud_credentials: { input, output: { cloud_provider: 'vendor-store' } } })
}

describe('the key that a credential holds', () => {
  it.each([
    ['oracle', pair, 'pair'],
    ['oracle', { ...ocids, private_key: pem }, 'api-key'],
    ['oracle', { ...ocids, secret_key: pem }, 'api-key'],
    ['oracle', { ...ocids, private_key: pem, secret_key: pem }, 'api-key'],
    ['oracle', { ...ocids, private_key: pem, access_key: null, secret_key: '' }, 'api-key'],
    ['oracle', { ...ocids, oci_fingerprint: ocids.oci_fingerprint.toUpperCase(), private_key: pem }, 'api-key'],
    ['gcloud', pair, 'pair'],
    ['gcloud', { ...account, private_key: JSON.stringify(pem).slice(1, -1) }, 'service-account'],
    ['gcloud', { ...account, secret_key: pem }, 'service-account'],
  ] as const)('%s: %j is a %s', (provider, known, kind) => {
    const read = provider === 'oracle' ? readOracleKey(known) : readGoogleKey(known)
    expect(read).toMatchObject({ ok: true, key: { kind }, unused: [] })
  })

  it.each([
    [{ ...oracle, ...pair }],
    [{ ...oracle, ...ocids, private_key: pem }],
    [{ ...gcloud, ...pair }],
    [{ ...gcloud, ...account, private_key: pem }],
  ])('%# is accepted without a warning, as input and as output, and never shown', (credentials) => {
    const made = expectAccepted(body(credentials))
    expect(made.warnings).toEqual([])
    expect(made.secrets.input).toMatchObject(credentials)
    expect(JSON.stringify(made.config)).not.toContain('PRIVATE KEY')
    expect(JSON.stringify(made.config)).not.toContain(pair.secret_key)
    const root = credentials.cloud_provider === 'oracle' ? 'oci://ns/Films' : 'gs://films'
    const output = { bucket_output_path: `${root}/dir`, cloud_credentials: { input: credentials, output: credentials } }
    expectAccepted(request({ input: `${root}/a.mp4`, ...output }))
  })

  it.each([
    [{ ...oracle, ...pair, ...ocids }, ['tenancy_ocid', 'user_ocid', 'oci_fingerprint']],
    [{ ...oracle, ...ocids, private_key: pem, access_key: 'AKEY' }, ['access_key']],
    [{ ...gcloud, ...pair, client_email: 'a@b' }, ['client_email']],
    [{ ...gcloud, ...pair, region: 'eu-west-1' }, ['region']],
  ])('what the other kind needs has no effect, and that is said: %#', (credentials, members) => {
    const reported = members.map((name) => `no_effect cloud_credentials.input.${name}`)
    expect(fieldsAndCodes(expectAccepted(body(credentials)).warnings)).toEqual(reported)
  })
})

describe('a key that is not whole or not right', () => {
  const field = 'cloud_credentials.input'
  const cases: [object, string, string, ...string[]][] = [
    [{ ...oracle }, 'required', '', 'access_key and secret_key are missing', 'user_ocid and oci_fingerprint'],
    [{ ...oracle, ...ocids }, 'required', '', 'for the second private_key is missing'],
    [{ ...oracle, access_key: 'a', secret_key: pem }, 'required', '', 'tenancy_ocid', 'for the first secret_key'],
    [{ ...oracle, ...pair, ...ocids, private_key: pem }, 'conflict', '', 'but not both'],
    [{ ...oracle, ...pair, region: '' }, 'required', '.region', 'oracle needs region'],
    [{ ...oracle, ...pair, region: 'evil.example/x' }, 'invalid_value', '.region', 'lower-case letters'],
    [{ ...oracle, ...pair, region: 'a#b' }, 'invalid_value', '.region', 'lower-case letters'],
    [
      { ...oracle, ...ocids, private_key: another },
      'invalid_value',
      '.oci_fingerprint',
      `does not match the given key, whose fingerprint is ${fingerprintOf(another)}`,
    ],
    [{ ...oracle, ...ocids, oci_fingerprint: 'x', private_key: pem }, 'invalid_value', '.oci_fingerprint', '16 bytes'],
    [
      { ...oracle, ...ocids, tenancy_ocid: ocids.user_ocid, private_key: pem },
      'invalid_value',
      '.tenancy_ocid',
      'the OCID of a tenancy',
    ],
    [
      { ...oracle, ...ocids, user_ocid: 'ocid1.user.oc1..a",x="', private_key: pem },
      'invalid_value',
      '.user_ocid',
      'the OCID of a user',
    ],
    [
      { ...oracle, ...ocids, private_key: pem, secret_key: another },
      'conflict',
      '.secret_key',
      'a different PEM key from private_key',
    ],
    [{ ...gcloud }, 'required', '', 'client_email and private_key are missing'],
    [{ ...gcloud, access_key: 'a' }, 'required', '', 'for the first secret_key is missing'],
    [{ ...gcloud, ...pair, access_key: 'a b\u00e9' }, 'invalid_value', '.access_key', 'contains characters'],
    [{ ...gcloud, ...account, private_key: 'hello' }, 'invalid_value', '.private_key', 'is not a key in PEM form'],
    [{ ...gcloud, ...account, private_key: makePem(1024) }, 'invalid_value', '.private_key', '1024 bits', '2048'],
    [{ ...gcloud, ...account, client_email: 'nobody', private_key: pem }, 'invalid_value', '.client_email', 'e-mail'],
    [
      {
        ...gcloud,
        ...account,
        private_key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA\n-----END ENCRYPTED PRIVATE KEY-----',
      },
      'invalid_value',
      '.private_key',
      'encrypted with a passphrase',
    ],
    [
      { ...gcloud, ...pair, endpoint: 'https://s3.example' },
      'not_available',
      '.endpoint',
      'only for cloud_provider "aws"',
    ],
  ]
  it.each(cases)('%#: %s', (credentials, code, member, ...says) => {
    const problems = expectRefused(body(credentials as Record<string, unknown>))
    const reported = problems.filter((problem) => problem.field === `${field}${member}`)
    expect(reported.map((problem) => problem.code)).toEqual([code])
    for (const part of says) expect(reported[0]!.message).toContain(part)
    expect(reported[0]!.message).toContain(member === '' ? field : member.slice(1))
    expect(JSON.stringify(problems)).not.toContain(pem.slice(40, 80))
    expect(JSON.stringify(problems)).not.toContain(pair.secret_key)
  })

  it.each([
    ['oci://N.S/b/k', 'namespace'],
    ['oci://evil.example#/b/k', 'namespace'],
    ['oci://ns/b?x/k', 'bucket name'],
  ])('the address %s cannot become a host name or a path', (input, part) => {
    const credentials = { input: { ...oracle, ...pair }, output: { cloud_provider: 'vendor-store' } }
    const problems = expectRefused(request({ input, cloud_credentials: credentials }))
    expect(problems.map((problem) => problem.message).join()).toContain(part)
  })
})
