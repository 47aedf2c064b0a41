// In charge of: where a job reads and writes: what is stored, shown and encrypted. Other tests check that the bytes
// arrive.
import { cacheControlOf } from '../../../worker/storage/cacheControl.ts'
import { credentialFields } from '#contract/job/fields/credentials.ts'
import { measurement, rejectedRow, provenByTest, storedConfigRow, type Row } from '../row.ts'

const input = (members: Record<string, unknown>) => ({
  input: 'https://example.test/film.mp4',
  cloud_credentials: { input: { cloud_provider: 'http', ...members }, output: { cloud_provider: 'vendor-store' } },
})
/** The members that 2.3 calls keys: never shown in full. */
const HIDDEN = ['secret_key', 'private_key', 'session_token']
const GIVEN = 'AKIAIOSFODNN7EXAMPLE'
const SHOWN: Record<string, unknown> = {
  access_key: 'AKIA…MPLE',
  ...Object.fromEntries(HIDDEN.map((name) => [name, null])),
}
const AWS = { cloud_provider: 'aws', access_key: 'A', secret_key: 'B' }
const ORACLE = { cloud_provider: 'oracle', access_key: 'A', secret_key: 'B', region: 'eu-frankfurt-1' }
const GOOGLE = { cloud_provider: 'gcloud', access_key: 'A', secret_key: 'B' }
const fromS3 = (members: Record<string, unknown>) => ({
  input: 's3://films/film.mp4',
  cloud_credentials: { input: { ...AWS, ...members }, output: { cloud_provider: 'vendor-store' } },
})
/** Members that only one provider reads. */
const AMAZON = new Set(['session_token', 'endpoint'])

function member(name: string, value: string | null): Row[] {
  const path = `cloud_credentials.input.${name}`
  const job = AMAZON.has(name) ? fromS3({ [name]: value }) : input({ [name]: value })
  const shown = value === '' && HIDDEN.includes(name) ? null : value === GIVEN && name in SHOWN ? SHOWN[name] : value
  return [
    storedConfigRow(
      { path, value, job, expected: `shown as ${JSON.stringify(shown)}, sealed as given` },
      (config, { secrets }) => {
        const seen = (config.cloud_credentials.input as Record<string, unknown>)[name]
        const sealed = (secrets.input as Record<string, unknown>)[name] === value
        return measurement(
          `shown as ${JSON.stringify(seen)}, ${sealed ? 'sealed' : 'not sealed'}`,
          seen === shown && sealed,
        )
      },
    ),
  ]
}

const provider = (side: 'input' | 'output', value: string, job: Row['job']) =>
  storedConfigRow(
    { path: `cloud_credentials.${side}.cloud_provider`, value, expected: 'accepted and stored', job },
    (config) => {
      const seen = config.cloud_credentials[side]?.cloud_provider ?? 'none'
      return measurement(seen, seen === value)
    },
  )

const HOOK = 'https://hooks.example.test/ended?token=1'

/** Sending the webhook is tested with the service (test/worker/webhooks/webhooks.test.ts). */
const webhook = (value: string | null, shown: string | null) =>
  storedConfigRow(
    {
      path: 'webhook_url',
      value,
      expected: value === HOOK ? 'a query is sealed' : 'nobody is told',
      job: { webhook_url: value },
    },
    (config, { secrets }) =>
      measurement(
        `shown as ${JSON.stringify(config.webhook_url)}`,
        config.webhook_url === shown && secrets.addresses.webhook_url === (value === HOOK ? HOOK : undefined),
      ),
  )

/** That objects have it is tested with each provider (worker/storage/conformance.ts). */
const cache = (value: string, expected: string) =>
  storedConfigRow({ path: 'cache_control', value, expected, job: { cache_control: value } }, (config) => {
    const { segment, manifest, file } = cacheControlOf(config.cache_control, false)
    return measurement([segment, manifest, file].join(' | '), [segment, manifest, file].join(' | ') === expected)
  })
const USUAL = 'public, max-age=31536000, immutable | public, max-age=60 | public, max-age=3600'

/**
 * Searching, listing and returning it is tested with the service (test/worker/jobs/metadata.test.ts, presets.test.ts).
 */
const METADATA = { customer: '42', 'ticket.id': 'ABC-7' }
const ownMetadata = storedConfigRow(
  { path: 'metadata', value: METADATA, expected: 'kept as given', job: { metadata: METADATA } },
  (config) =>
    measurement(JSON.stringify(config.metadata), JSON.stringify(config.metadata) === JSON.stringify(METADATA)),
)
const namedPreset = storedConfigRow(
  { path: 'preset', value: 'hls', expected: 'echoed; its members are merged by the service', job: { preset: 'hls' } },
  (config) => measurement(String(config.preset), config.preset === 'hls'),
)

const CLOUDS = 'test/node/service/stores/oracleAndGoogle.long.test.ts'
/** Outputs in every store, with each kind of its credentials: whole jobs against a server of the store's own API. */
const outputs: Row[] = (
  [
    [
      'vendor-store',
      'the service’s own store',
      'test/node/service/jobs/singleFiles.test.ts',
      'the polling client of the specification gets its files',
    ],
    ['aws', 'Amazon S3', 'test/node/service/stores/s3.test.ts', 'a job reads from S3 and writes to it'],
    [
      'aws',
      'another store with an S3 API (endpoint), the one of Ceph',
      'test/node/service/stores/cephRgw.long.test.ts',
      'a multipart upload is stored',
    ],
    ['oracle', 'Oracle with an API key', CLOUDS, "['Google with a service account', 'Oracle with an API key']"],
    ['oracle', 'Oracle with a customer key', CLOUDS, "['Google with an HMAC key', 'Oracle with a customer key']"],
    ['gcloud', 'Google with a service account', CLOUDS, "['Oracle with an API key', 'Google with a service account']"],
    ['gcloud', 'Google with an HMAC key', CLOUDS, "['Oracle with a customer key', 'Google with an HMAC key']"],
    [
      'http',
      'PUT: files',
      'test/node/service/stores/httpFaults.long.test.ts',
      'takes small objects, and one above a part, with their length, type and Basic credentials',
    ],
    [
      'http',
      'PUT: segmented output',
      'test/node/service/stores/httpFaults.long.test.ts',
      'takes segmented output, the multivariant playlist last',
    ],
  ] as const
).map(([value, expected, file, title]) =>
  provenByTest(
    { path: 'cloud_credentials.output.cloud_provider', value, expected: `an output in ${expected}` },
    file,
    title,
  ),
)

export const addresses: Row[] = [
  ownMetadata,
  namedPreset,
  cache('private, max-age=600', 'private, max-age=600 | private, max-age=600 | private, max-age=600'),
  cache('', USUAL),
  webhook(HOOK, 'https://hooks.example.test/ended?…'),
  webhook('', ''),
  webhook(null, null),
  storedConfigRow({ path: 'input', value: '12', expected: 'the upload number 12', job: { input: '12' } }, (config) =>
    measurement(config.input ?? 'none', config.input === '12'),
  ),
  storedConfigRow(
    {
      path: 'input',
      value: 'https://example.test/film.mp4?token=1',
      expected: 'an address whose query is sealed',
      job: { ...input({}), input: 'https://example.test/film.mp4?token=1' },
    },
    (config, { secrets }) =>
      measurement(
        `shown as ${config.input}`,
        config.input?.endsWith('film.mp4?…') === true && secrets.addresses.input?.endsWith('token=1') === true,
      ),
  ),
  rejectedRow({ path: 'input', value: 'film.mp4', job: { input: 'film.mp4' } }, 'invalid_input_address', 'input'),
  provider('input', 'http', input({})),
  provider('input', 'file-upload', {}),
  provider('input', 'aws', fromS3({})),
  provider('input', 'vendor-store', {
    input: 'out/4f0c/film.mp4',
    cloud_credentials: { input: { cloud_provider: 'vendor-store' } },
  }),
  provider('output', 'vendor-store', input({})),
  provider('output', 'aws', {
    bucket_output_path: 's3://films/out',
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: AWS },
  }),
  provider('input', 'oracle', {
    input: 'oci://axaxnpcrorw5/films/film.mp4',
    cloud_credentials: { input: ORACLE, output: { cloud_provider: 'vendor-store' } },
  }),
  provider('output', 'oracle', {
    bucket_output_path: 'oci://axaxnpcrorw5/films/out',
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: ORACLE },
  }),
  provider('input', 'gcloud', {
    input: 'gs://films/film.mp4',
    cloud_credentials: { input: GOOGLE, output: { cloud_provider: 'vendor-store' } },
  }),
  provider('output', 'gcloud', {
    bucket_output_path: 'gs://films/out',
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: GOOGLE },
  }),
  provider('output', 'http', {
    bucket_output_path: 'https://media.example/out',
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'http' } },
  }),
  ...outputs,
  rejectedRow(
    { path: 'cloud_credentials.input.endpoint', value: 'x', job: input({ endpoint: 'x' }) },
    'not_available',
    'cloud_credentials.input.endpoint',
  ),
  storedConfigRow(
    {
      path: 'cloud_credentials.input.session_token',
      value: 'x',
      expected: 'http does not use it: the warning no_effect',
      job: input({ session_token: 'x' }),
    },
    (_config, { warnings }) => {
      const codes = warnings.map(({ code, field }) => `${code} at ${field}`).join(', ')
      return measurement(codes, codes === 'no_effect at cloud_credentials.input.session_token')
    },
  ),
  // 2.3: an upload is only an input.
  rejectedRow(
    {
      path: 'cloud_credentials.output.cloud_provider',
      value: 'file-upload',
      job: {
        cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'file-upload' } },
      },
    },
    'invalid_value',
    'cloud_credentials.output.cloud_provider',
  ),
  ...Object.keys(credentialFields)
    .filter((name) => name !== 'cloud_provider')
    .flatMap((name) =>
      [name === 'endpoint' ? 'https://s3.example.com' : GIVEN, '', null].flatMap((value) => member(name, value)),
    ),
]
