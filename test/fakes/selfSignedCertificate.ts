// In charge of: a self-signed certificate for a test server; clients need not trust it.
// Not in charge of: certificates that clients would accept.
import { generateKeyPairSync, sign } from 'node:crypto'

/** DER: tag, length, content. */
function der(tag: number, ...parts: (Buffer | readonly number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

const sequence = (...parts: (Buffer | readonly number[])[]): Buffer => der(0x30, ...parts)
const time = (year: number): Buffer => der(0x18, Buffer.from(`${year}0101000000Z`))
const COMMON_NAME = [0x55, 0x04, 0x03]
const ECDSA_SHA256 = sequence(der(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))

/** RFC 5280 §4.1, version 1: for `name`, valid for the whole century. */
export function selfSignedCertificate(name: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const who = sequence(der(0x31, sequence(der(0x06, COMMON_NAME), der(0x0c, Buffer.from(name)))))
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const told = sequence(der(0x02, [1]), ECDSA_SHA256, who, sequence(time(2000), time(2099)), who, spki)
  const signature = sign('sha256', told, privateKey)
  const bytes = sequence(told, ECDSA_SHA256, der(0x03, [0], signature))
  const lines = bytes.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  }
}
