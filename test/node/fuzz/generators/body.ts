// In charge of: the body of a request as bytes: its encoding, its framing, and the JSON that a reader finds in it.
// Not in charge of: which JSON (jsonText.ts).
import { deflateSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

export interface Body {
  /** With placeholders that serviceUnderTest.ts fills. */
  text: string
  form: (typeof FORMS)[number]
  /** The Content-Type header; null = none. */
  type: string | null
  framing: 'length' | 'chunked'
}

const FORMS = [
  ...(['utf-8', 'bytes', 'byte order mark', 'utf-16le', 'utf-16be', 'latin1', 'cut', 'invalid utf-8'] as const),
  ...(['gzip', 'gzip untold', 'deflate', 'large', 'larger', 'twice', 'empty'] as const),
] as const

export const bodyForm: Arbitrary<Body['form']> = fc.oneof(
  { arbitrary: fc.constant('utf-8' as const), weight: 12 },
  { arbitrary: fc.constantFrom(...FORMS.filter((each) => each !== 'bytes')), weight: 2 },
)

export const framing: Arbitrary<Body['framing']> = fc.constantFrom('length', 'length', 'length', 'chunked')

const bytes = (text: string, form: Body['form']): Buffer => {
  const utf8 = Buffer.from(text, 'utf8')
  switch (form) {
    case 'utf-8':
      return utf8
    case 'bytes':
    case 'latin1':
      return Buffer.from(text, 'latin1')
    case 'byte order mark':
      return Buffer.from(`\ufeff${text}`, 'utf8')
    case 'utf-16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le')
    case 'utf-16be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
    case 'cut':
      return utf8.subarray(0, -1)
    case 'invalid utf-8':
      return Buffer.concat([
        utf8.subarray(0, utf8.length >> 1),
        Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0xf8]),
        utf8.subarray(utf8.length >> 1),
      ])
    case 'gzip':
    case 'gzip untold':
      return gzipSync(utf8)
    case 'deflate':
      return deflateSync(utf8)
    case 'large':
      return Buffer.from(text.padEnd(256 * 1024 - utf8.length + text.length, ' '))
    case 'larger':
      return Buffer.from(text.padEnd(256 * 1024 + 1, '\n'))
    case 'twice':
      return Buffer.concat([utf8, utf8])
    case 'empty':
      return Buffer.alloc(0)
  }
}

export function encode(body: Body, fill: (text: string) => string): { bytes: Buffer; headers: [string, string][] } {
  const plain = bytes(fill(body.text), body.form)
  const coding = body.form === 'gzip' || body.form === 'deflate' ? body.form : null
  const headers: [string, string][] = []
  if (body.type !== null) headers.push(['Content-Type', body.type])
  if (coding !== null) headers.push(['Content-Encoding', coding])
  if (body.framing === 'length')
    return { bytes: plain, headers: [...headers, ['Content-Length', String(plain.length)]] }
  return { bytes: plain, headers: [...headers, ['Transfer-Encoding', 'chunked']] }
}

/** The result of JSON.parse; null for invalid JSON. Bytes that are not UTF-8 are read as U+FFFD (WHATWG Encoding). */
export function parsed(body: Body, fill: (text: string) => string): { value: unknown } | null {
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes(fill(body.text), body.form))) as unknown }
  } catch {
    return null
  }
}
