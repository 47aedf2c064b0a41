// In charge of: which addresses the guard lets pass, form by form.
import { describe, expect, test } from 'vitest'
import { checkAddress, isPublicAddress } from '../../../worker/storage/address.ts'

const platform = { egress: 'platform', allowPrivateHosts: new Set<string>() } as const

const forbidden: [string, string][] = [
  ['loopback', 'http://127.0.0.1/'],
  ['loopback, another of its addresses', 'http://127.8.9.10/'],
  ['loopback with a port', 'https://127.0.0.1:8443/x'],
  ['short form', 'http://127.1/'],
  ['one number', 'http://2130706433/'],
  ['octal elements', 'http://0177.0.0.1/'],
  ['octal number', 'http://017700000001/'],
  ['hexadecimal number', 'http://0x7f000001/'],
  ['hexadecimal elements', 'http://0x7f.0x0.0x0.0x1/'],
  ['mixed notation', 'http://0x7f.1/'],
  ['hexadecimal of mixed case', 'http://0X7F.0.0.1/'],
  ['octal with more zeros', 'http://00000177.0.0.1/'],
  ['percent-encoded digits', 'http://%31%32%37.0.0.1/'],
  ['full-width digits', 'http://１２７.０.０.１/'],
  ['circled digits', 'http://①②⑦.⓪.⓪.①/'],
  ['ideographic full stops', 'http://127。0。0。1/'],
  ['a dot at the end', 'http://127.0.0.1./'],
  ['tabs and newlines inside', 'http://127.0\n.0.\t1/'],
  ['backslashes for slashes', 'http:\\\\127.0.0.1\\x'],
  ['one slash', 'http:/127.0.0.1/'],
  ['no slashes', 'http:127.0.0.1/'],
  ['upper-case scheme', 'HTTP://127.0.0.1/'],
  ['zero', 'http://0/'],
  ['this network', 'http://0.0.0.0/'],
  ['this network, another address', 'http://0.1.2.3/'],
  ['private 10/8', 'http://10.0.0.1/'],
  ['private 172.16/12', 'http://172.16.0.1/'],
  ['private 172.16/12, its end', 'http://172.31.255.255/'],
  ['private 192.168/16', 'http://192.168.1.1/'],
  ['private as one number', 'http://3232235777/'],
  ['carrier-grade NAT', 'http://100.64.0.1/'],
  ['metadata in carrier-grade NAT', 'http://100.100.100.200/latest/'],
  ['link-local', 'http://169.254.1.1/'],
  ['metadata', 'http://169.254.169.254/latest/meta-data/'],
  ['metadata as a number', 'http://2852039166/'],
  ['metadata in hexadecimal', 'http://0xa9fea9fe/'],
  ['protocol assignments', 'http://192.0.0.192/'],
  ['documentation 1', 'http://192.0.2.1/'],
  ['documentation 2', 'http://198.51.100.1/'],
  ['documentation 3', 'http://203.0.113.1/'],
  ['6to4 relay', 'http://192.88.99.1/'],
  ['benchmarking', 'http://198.18.0.1/'],
  ['benchmarking, its end', 'http://198.19.255.255/'],
  ['multicast', 'http://224.0.0.1/'],
  ['multicast, its end', 'http://239.255.255.250/'],
  ['reserved', 'http://240.0.0.1/'],
  ['broadcast', 'http://255.255.255.255/'],
  ["Azure's wire server", 'http://168.63.129.16/'],
  ['IPv6 loopback', 'http://[::1]/'],
  ['IPv6 loopback, all of it', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]:9000/'],
  ['IPv6 unspecified', 'http://[::]/'],
  ['IPv4-mapped loopback', 'http://[::ffff:127.0.0.1]/'],
  ['IPv4-mapped in hexadecimal', 'http://[::ffff:7f00:1]/'],
  ['IPv4-mapped metadata', 'http://[::ffff:a9fe:a9fe]/'],
  ['IPv4-mapped public', 'http://[::ffff:1.1.1.1]/'],
  ['IPv4-compatible loopback', 'http://[::127.0.0.1]/'],
  ['IPv4-compatible private', 'http://[::a00:1]/'],
  ['IPv4-translated', 'http://[::ffff:0:127.0.0.1]/'],
  ['6to4 of loopback', 'http://[2002:7f00:1::]/'],
  ['6to4 of a private address', 'http://[2002:a00:1::1]/'],
  ['NAT64 of loopback', 'http://[64:ff9b::7f00:1]/'],
  ['NAT64 of metadata', 'http://[64:ff9b::169.254.169.254]/'],
  ['local NAT64', 'http://[64:ff9b:1::7f00:1]/'],
  ['Teredo', 'http://[2001:0:53aa:64c:0:0:80ff:fffe]/'],
  ['unique local', 'http://[fd00:ec2::254]/'],
  ['unique local, its start', 'http://[fc00::1]/'],
  ['IPv6 link-local', 'http://[fe80::1]/'],
  ['IPv6 link-local, its end', 'http://[febf::1]/'],
  ['site-local', 'http://[fec0::1]/'],
  ['IPv6 multicast', 'http://[ff02::1]/'],
  ['IPv6 documentation', 'http://[2001:db8::1]/'],
  ['IPv6 documentation, the second', 'http://[3fff::1]/'],
  ['IPv6 discard', 'http://[100::1]/'],
  ['IPv6 benchmarking', 'http://[2001:2::1]/'],
  ['ORCHID', 'http://[2001:20::1]/'],
  ['unassigned IPv6', 'http://[4000::1]/'],
  ['localhost', 'http://localhost/'],
  ['localhost in capitals', 'http://LOCALHOST:9000/'],
  ['localhost with a dot', 'http://localhost./'],
  ['localhost with two dots', 'http://localhost../'],
  ['below localhost', 'http://x.localhost/'],
  ['below localhost with a dot', 'http://x.localhost./'],
  ['one label', 'http://metadata/'],
  ['multicast DNS', 'http://printer.local/'],
  ['metadata by name', 'http://metadata.google.internal/computeMetadata/'],
  ['a cluster', 'http://api.default.svc.cluster.local/'],
  ['a home network', 'http://router.home.arpa/'],
  ['a local domain', 'http://x.localdomain/'],
  ['an office', 'http://wiki.corp/'],
  ['a LAN', 'http://nas.lan/'],
  ['an onion', 'http://abcdefghij.onion/'],
  ['user info', 'https://user:pass@files.example.com/'],
  ['a user name', 'https://user@files.example.com/'],
  ['an empty user with a password', 'https://:pass@files.example.com/'],
  ['user info that looks like a host', 'https://files.example.com@127.0.0.1/'],
  ['ftp', 'ftp://files.example.com/'],
  ['file', 'file:///etc/passwd'],
  ['gopher', 'gopher://files.example.com/'],
  ['data', 'data:text/plain,x'],
  ['javascript', 'javascript:alert(1)'],
  ['web socket', 'ws://files.example.com/'],
  ['concat of ffmpeg', 'concat:http://files.example.com/a|b'],
  ['a path', '/etc/passwd'],
  ['no scheme', 'files.example.com/x'],
  ['no host', 'http:///'],
  ['nothing', ''],
  ['a space', 'http://files example.com/'],
  ['IPv6 with a zone', 'http://[fe80::1%25eth0]/'],
  ['a port out of range', 'http://files.example.com:65536/'],
]

test('the table has the sixty forms that it promises', () => {
  expect(forbidden.length).toBeGreaterThanOrEqual(60)
})

test.each(forbidden)('refused: %s', (_, address) => {
  expect(() => checkAddress(address, platform)).toThrow(expect.objectContaining({ name: 'AddressRefused' }))
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
  expect(checkAddress(address, platform).href).toBe(new URL(address).href)
  expect(checkAddress(address, { ...platform, egress: 'pinned' }).href).toBe(new URL(address).href)
})

describe('hosts that a deployment allows', () => {
  const policy = {
    egress: 'platform',
    allowPrivateHosts: new Set(['127.0.0.1:9000', '[::1]:80', 'minio:443']),
  } as const
  test.each(['http://127.0.0.1:9000/x', 'http://0x7f.1:9000/x', 'http://[::1]/', 'https://minio/', 'https://MINIO./'])(
    'allowed: %s',
    (address) => expect(checkAddress(address, policy).href).toBe(new URL(address).href),
  )
  test.each([
    'http://127.0.0.1:9001/',
    'http://127.0.0.1/',
    'http://minio/',
    'https://[::1]/',
    'http://127.0.0.2:9000/',
  ])('refused, since host and port must both match: %s', (address) =>
    expect(() => checkAddress(address, policy)).toThrow(/not a public/),
  )
  test('user info is refused even there', () => {
    expect(() => checkAddress('http://u:p@127.0.0.1:9000/', policy)).toThrow(/access_key/)
  })
})

test('egress "listed" refuses every other host, and says what to do', () => {
  const policy = { egress: 'listed', allowPrivateHosts: new Set(['files.test:80']) } as const
  expect(checkAddress('http://files.test/x', policy).host).toBe('files.test')
  expect(() => checkAddress('https://files.example.com/', policy)).toThrow(
    'files.example.com:443 is not in ALLOW_PRIVATE_HOSTS, and this deployment reaches listed hosts only.',
  )
  expect(() => checkAddress('https://1.1.1.1/', policy)).toThrow(/ALLOW_PRIVATE_HOSTS/)
})

test('a refusal never repeats the query', () => {
  for (const address of ['http://127.0.0.1/?sig=hunter2', 'nonsense?sig=hunter2', 'http://u:hunter2@x.example.com/']) {
    expect(() => checkAddress(address, platform)).toThrow(/^(?!.*hunter2)/)
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
