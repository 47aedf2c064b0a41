// In charge of: PEM keys against OpenSSL's (node:crypto), MD5 against RFC 1321, and the code of each refusal.
import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { md5, readPem } from '#contract/job/storeKeys/pem.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const der = privateKey.export({ type: 'pkcs8', format: 'der' })
const fingerprint = createHash('md5')
  .update(publicKey.export({ type: 'spki', format: 'der' }))
  .digest('hex')
  .replace(/..(?=.)/g, '$&:')

describe('MD5', () => {
  test.each([
    ['', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['a', '0cc175b9c0f1b6a831c399e269772661'],
    ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
    [
      '12345678901234567890123456789012345678901234567890123456789012345678901234567890',
      '57edf4a22be3c955ac49da2e2107b67a',
    ],
  ])('RFC 1321 §A.5: %j', (text, digest) => {
    expect(Buffer.from(md5(Buffer.from(text))).toString('hex')).toBe(digest)
  })

  test('of every length around a block is what OpenSSL says', () => {
    for (let length = 0; length < 200; length++) {
      const bytes = Buffer.alloc(length, length)
      expect(Buffer.from(md5(bytes))).toEqual(createHash('md5').update(bytes).digest())
    }
  })
})

describe('a private key', () => {
  test.each([
    ['PKCS#8', pkcs8],
    ['PKCS#1', pkcs1],
    ['with the escapes of a JSON key file', JSON.stringify(pkcs8).slice(1, -1)],
    ['with CRLF', pkcs8.replaceAll('\n', '\r\n')],
    ['with escaped CRLF', pkcs1.replaceAll('\n', '\\r\\n')],
    ['on one line', pkcs8.replaceAll('\n', ' ')],
    ["with Oracle's label behind it", `${pkcs8}OCI_API_KEY`],
    ['with text around it', `Bag Attributes\n    friendlyName: x\n${pkcs1}\n`],
  ])('%s', (_, text) => {
    const read = readPem(text)
    if (!read.ok) throw new Error(read.reason)
    expect(Buffer.from(read.key.pkcs8)).toEqual(der)
    expect(read.key.bits).toBe(2048)
    expect(read.key.fingerprint).toBe(fingerprint)
  })

  test.each([1024, 2049, 3072, 4096])('of %i bits, of which the fingerprint is that of OpenSSL', (modulusLength) => {
    const made = generateKeyPairSync('rsa', { modulusLength })
    const read = readPem(made.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
    if (!read.ok) throw new Error(read.reason)
    const spki = made.publicKey.export({ type: 'spki', format: 'der' })
    expect(read.key.bits).toBe(made.privateKey.asymmetricKeyDetails?.modulusLength)
    expect(read.key.fingerprint.replaceAll(':', '')).toBe(createHash('md5').update(spki).digest('hex'))
    const imported = createPrivateKey({ key: Buffer.from(read.key.pkcs8), type: 'pkcs8', format: 'der' })
    expect(imported.equals(made.privateKey)).toBe(true)
  })

  const secret = { cipher: 'aes-256-cbc', passphrase: 'secret' } as const
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const ed = generateKeyPairSync('ed25519').privateKey
  const damaged = pkcs8.replace(/\n(.{20})/, '\n')
  test.each([
    ['encrypted PKCS#8', privateKey.export({ type: 'pkcs8', format: 'pem', ...secret }), 'encrypted with a passphrase'],
    ['encrypted PKCS#1', privateKey.export({ type: 'pkcs1', format: 'pem', ...secret }), 'encrypted with a passphrase'],
    ['a public key', publicKey.export({ type: 'spki', format: 'pem' }), 'is a public key'],
    ['an elliptic-curve key', ec.export({ type: 'sec1', format: 'pem' }), 'is an elliptic-curve key'],
    ['an elliptic-curve key in PKCS#8', ec.export({ type: 'pkcs8', format: 'pem' }), 'is not an RSA key'],
    ['an Ed25519 key', ed.export({ type: 'pkcs8', format: 'pem' }), 'is not an RSA key'],
    ['an OpenSSH key', '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----', 'OpenSSH'],
    ['a damaged key', damaged, 'is damaged'],
    ['a key cut off', pkcs8.slice(0, 800), 'is not a key in PEM form'],
    ['no base64', '-----BEGIN PRIVATE KEY-----\n!!\n-----END PRIVATE KEY-----', 'is damaged'],
    ['nothing inside', '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----', 'is damaged'],
    ['no PEM', 'hello', 'is not a key in PEM form'],
    ['long nonsense', `-----BEGIN ${'A'.repeat(16_000)}`, 'is not a key in PEM form'],
  ])('%s is refused by name, and not shown', (_, text, why) => {
    const read = readPem(text.toString())
    expect(read).toMatchObject({ ok: false, reason: expect.stringContaining(why) as string })
    expect(JSON.stringify(read)).not.toContain(pkcs8.slice(40, 60))
  })

  test('hostile DER is refused, whatever it claims', () => {
    for (let at = 0; at < 60; at++) {
      for (const value of [0x00, 0x80, 0x84, 0xff]) {
        const bytes = Buffer.from(der)
        bytes[at] = value
        const read = readPem(`-----BEGIN PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END PRIVATE KEY-----`)
        expect(read.ok ? read.key.pkcs8.length > 100 : read.reason.length < 100).toBe(true)
      }
    }
  })
})
