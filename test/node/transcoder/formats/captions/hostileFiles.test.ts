// In charge of: caption files that are made to cost time or memory. Each of them took minutes, or gigabytes, before its reader
// was linear: here it reaches the time limit of a test.
import { expect, test } from 'vitest'
import { readCaptions } from '../../../../../transcoder/formats/captions/readCaptions.ts'

const TTML = 'xmlns="http://www.w3.org/ns/ttml"'
const read = (text: string | Uint8Array) =>
  readCaptions(typeof text === 'string' ? new TextEncoder().encode(text) : text, { format: null, offsetSeconds: null })
const srt = (text: string) => `1\n00:00:01,000 --> 00:00:02,000\n${text}\n`

test.each([
  ['a time that never ends', `<1${'.'.repeat(300_000)}`],
  ['classes that never end', `<b${'.a'.repeat(150_000)}`],
  ['tags that never end', '<b.a'.repeat(75_000)],
  ['braces that never end', '{\\a'.repeat(100_000)],
])('SubRip and WebVTT: %s', (_title, text) => {
  expect(() => read(srt(text))).toThrow(/more than \d+ characters/)
  expect(() => read(`WEBVTT\n\n00:01.000 --> 00:02.000\n${text}\n`)).toThrow(/more than \d+ characters/)
})

test('SubRip: many cues with tags that never end', () => {
  const cues = Array.from({ length: 200 }, (_, at) => srt(`<1${'.'.repeat(4000 + (at % 7))}`)).join('\n')
  expect(read(cues).cues).toHaveLength(200)
})

test('TTML: pieces that are shown at many times', () => {
  const spans = Array.from({ length: 249 }, (_, at) => `<span begin="${at}s" end="${at + 1}s">b</span>`).join('')
  const body = `<p begin="0s" end="1000s">${'a<br/>'.repeat(100_000)}${spans}</p>`
  expect(() => read(`<tt ${TTML}><body><div>${body}</div></body></tt>`)).toThrow(/too many parts/)
})

test('TTML: styles that refer to each other', () => {
  const styles = Array.from(
    { length: 8 },
    (_, at) => `<style xml:id="s${at}" tts:fontStyle="italic" style="s0 s1 s2 s3 s4 s5 s6 s7"/>`,
  ).join('')
  const body = '<p begin="0s" end="1s" style="s0 s1 s2 s3 s4 s5 s6 s7">x</p>'.repeat(10_000)
  const head = `<head><styling>${styles}</styling></head>`
  const { cues } = read(
    `<tt ${TTML} xmlns:tts="http://www.w3.org/ns/ttml#styling">${head}<body><div>${body}</div></body></tt>`,
  )
  expect(cues).toHaveLength(10_000)
  expect(cues[0]!.lines[0]![0]).toMatchObject({ italic: true })
})

test('EBU STL: subtitles of many blocks', () => {
  const header = new Uint8Array(1024).fill(0x20)
  header.set(new TextEncoder().encode('850STL25.01'))
  header.set(new TextEncoder().encode('00'), 12)
  const blocks = Array.from({ length: 20_000 }, (_, at) => {
    const block = new Uint8Array(128).fill(0x41)
    block.set([0, Math.floor(at / 200) & 0xff, Math.floor(at / 200) >> 8, at % 200 === 199 ? 0xff : at % 200, 0])
    block.set([0, 0, 1, 0, 0, 0, 2, 0, 20, 2, 0], 5)
    return block
  })
  const bytes = new Uint8Array(1024 + blocks.length * 128)
  bytes.set(header)
  for (const [at, block] of blocks.entries()) bytes.set(block, 1024 + at * 128)
  expect(() => read(bytes)).toThrow(/more than \d+ characters/)
})
