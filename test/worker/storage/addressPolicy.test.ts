// In charge of: which addresses the address policy accepts, for every form of address.
import { describe, expect, test } from 'vitest'
import { requireAllowedAddress, isPublicAddress } from '../../../worker/storage/addressPolicy.ts'
import { FORBIDDEN_ADDRESSES } from './forbiddenAddresses.ts'

const platform = { egress: 'platform', allowPrivateHosts: new Set<string>() } as const

test('the table has the sixty forms that it promises', () => {
  expect(FORBIDDEN_ADDRESSES.length).toBeGreaterThanOrEqual(60)
})

test.each(FORBIDDEN_ADDRESSES)('refused: %s', (_, address) => {
  expect(() => requireAllowedAddress(address, platform)).toThrow(expect.objectContaining({ name: 'AddressRefused' }))
})

const allowed = [
  'https://files.example.com/a.mp4?x=1#f',
  'http://files.example.com:8080/',
  'https://1.1.1.1/',
  'http://172.32.0.1/',
  'http://100.128.0.1/',
  'http://[2606:4700:4700::1111]:8443/',
  'https://xn--bcher-kva.example/',
  'https://bücher.example/',
  'https://localhost.example.com/',
  'https://my.notlocal/x',
]
test.each(allowed)('allowed: %s', (address) => {
  expect(requireAllowedAddress(address, platform).href).toBe(new URL(address).href)
  expect(requireAllowedAddress(address, { ...platform, egress: 'pinned' }).href).toBe(new URL(address).href)
})

describe('hosts that a deployment allows', () => {
  const policy = {
    egress: 'platform',
    allowPrivateHosts: new Set(['127.0.0.1:9000', '[::1]:80', 'minio:443']),
  } as const
  test.each(['http://127.0.0.1:9000/x', 'http://0x7f.1:9000/x', 'http://[::1]/', 'https://minio/', 'https://MINIO./'])(
    'allowed: %s',
    (address) => expect(requireAllowedAddress(address, policy).href).toBe(new URL(address).href),
  )
  test.each([
    'http://127.0.0.1:9001/',
    'http://127.0.0.1/',
    'http://minio/',
    'https://[::1]/',
    'http://127.0.0.2:9000/',
  ])('refused, since host and port must both match: %s', (address) =>
    expect(() => requireAllowedAddress(address, policy)).toThrow(/not a public/),
  )
  test('user info is refused even there', () => {
    expect(() => requireAllowedAddress('http://u:p@127.0.0.1:9000/', policy)).toThrow(/access_key/)
  })
})

test('egress "listed" refuses every other host, and says what to do', () => {
  const policy = { egress: 'listed', allowPrivateHosts: new Set(['files.test:80']) } as const
  expect(requireAllowedAddress('http://files.test/x', policy).host).toBe('files.test')
  expect(() => requireAllowedAddress('https://files.example.com/', policy)).toThrow(
    'files.example.com:443 is not in ALLOW_PRIVATE_HOSTS, and this deployment reaches listed hosts only.',
  )
  expect(() => requireAllowedAddress('https://1.1.1.1/', policy)).toThrow(/ALLOW_PRIVATE_HOSTS/)
})

test('a refusal never repeats the query', () => {
  for (const address of ['http://127.0.0.1/?sig=hunter2', 'nonsense?sig=hunter2', 'http://u:hunter2@x.example.com/']) {
    expect(() => requireAllowedAddress(address, platform)).toThrow(/^(?!.*hunter2)/)
  }
})

test.each(['8.8.8.8', '2606:4700:4700::1111'])('public: %s', (ip) => expect(isPublicAddress(ip)).toBe(true))
test.each([
  '',
  'example.com',
  '127.0.0.1',
  '0177.0.0.1',
  '1',
  'fe80::1%lo',
  '2606:4700::1%eth0',
  '::ffff:8.8.8.8',
  '::8.8.8.8',
])('not public: %j', (ip) => expect(isPublicAddress(ip)).toBe(false))
