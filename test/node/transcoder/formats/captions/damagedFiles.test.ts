// In charge of: caption files that are cut off, damaged or hostile: each is read, or refused with a CaptionError, in
// bounded work.
// Not in charge of: which damage is refused (textFormats.test.ts, broadcastFormats.test.ts).
import { expect, test } from 'vitest'
import { CaptionError } from '../../../../../transcoder/formats/captions/captionError.ts'
import { flattenCues } from '../../../../../transcoder/formats/captions/flattenCues.ts'
import { readCaptions } from '../../../../../transcoder/formats/captions/readCaptions.ts'
import { tx3gFile } from '../../../../../transcoder/formats/mp4/tx3gFile.ts'
import { vttCueOf } from '../../../../../transcoder/manifests/webvtt/captionMarkup.ts'
import { webvtt } from '../../../../../transcoder/manifests/webvtt/webvttWriter.ts'
import { stlFile, stlText } from '../../../../support/captions/stlFile.ts'
import { Random } from '../../../../support/seededRandom.ts'

const FILES = {
  srt: Buffer.from(
    '1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<i>Hé</i>llo\n\n2\n00:00:03,000 --> 00:00:04,000\nBye &amp; on\n',
  ),
  webvtt: Buffer.from(
    'WEBVTT\n\nNOTE x\n\n1\n00:01.000 --> 00:02.000 line:10% position:50%,center\n<v A><b>Hé</b> &lt; 漢\n',
  ),
  ttml: Buffer.from(
    '<?xml version="1.0" encoding="UTF-8"?><tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling"><head><styling><style xml:id="s" tts:fontStyle="italic"/></styling><layout><region xml:id="r" tts:origin="10% 80%" tts:extent="80% 10%"/></layout></head><body><div begin="1s"><p region="r" style="s" begin="00:00:01.5" dur="25f">A <span>b</span><br/>c</p></div></body></tt>',
  ),
  scc: Buffer.from(
    'Scenarist_SCC V1.0\n\n00:00:01:00\t94ae 94ae 9420 9420 9470 9470 c8e5 ecec ef80 942f 942f\n\n00:00:02;00\t942c 942c\n',
  ),
  stl: stlFile([
    { first: '10:00:01:00', last: '10:00:02:00', text: stlText('Hello\nworld') },
    { first: '10:00:03:00', last: '10:00:04:00', text: stlText('x'.repeat(200)) },
  ]),
}

/** Whether cues were read that every output can be written from. Anything but a refusal is thrown. */
function outcomeOf(bytes: Uint8Array): 'read' | 'empty' | 'refused' {
  try {
    const file = readCaptions(bytes, { format: null, offsetSeconds: null })
    for (const { start, end, lines } of file.cues)
      if (!(Number.isFinite(start) && end > start && Number.isFinite(end) && lines.length > 0))
        throw new Error(`a cue from ${start} to ${end} with ${lines.length} lines`)
    tx3gFile(flattenCues(file.cues))
    webvtt(file.cues.map(vttCueOf))
    return file.cues.length > 0 ? 'read' : 'empty'
  } catch (error) {
    if (!(error instanceof CaptionError)) throw error
    return 'refused'
  }
}

test.for(Object.entries(FILES))('%s: every truncation is read or refused', ([, whole]) => {
  const outcomes = Array.from({ length: whole.length + 1 }, (_, length) =>
    outcomeOf(new Uint8Array(whole.subarray(0, length))),
  )
  expect([outcomes[0], outcomes.at(-1)]).toEqual(['empty', 'read'])
})

test.for(Object.entries(FILES))('%s: damaged bytes are read or refused', ([, whole]) => {
  const random = new Random(18)
  const outcomes = new Set(
    Array.from({ length: 500 }, () => {
      const bytes = new Uint8Array(whole)
      for (let count = 0; count <= random.next() * 6; count++)
        bytes[Math.floor(random.next() * bytes.length)] = Math.floor(random.next() * 256)
      return outcomeOf(bytes)
    }),
  )
  expect(outcomes).toContain('read')
})

const MANY = 50_000
test.for([
  ['tags that never end', `1\n00:00:01,000 --> 00:00:02,000\n${'<'.repeat(MANY)}`],
  ['tags with long attributes', `1\n00:00:01,000 --> 00:00:02,000\n${'<b '.repeat(MANY)}`],
  ['braces', `1\n00:00:01,000 --> 00:00:02,000\n${'{\\'.repeat(MANY)}`],
  ['references', `1\n00:00:01,000 --> 00:00:02,000\n${'&amp'.repeat(MANY)}`],
  ['blanks', `1\n00:00:01,000 --> 00:00:02,000\na${' '.repeat(MANY)}b${' \n'.repeat(MANY)}`],
  ['arrows', '-->\n'.repeat(MANY)],
  ['times without text', 'WEBVTT\n\n' + '00:01.000 --> 00:02.000\n'.repeat(MANY)],
  ['times that are almost times', `${'0'.repeat(MANY)}:00:00,000 --> x`],
  ['empty lines', `WEBVTT${'\n'.repeat(MANY)}`],
  ['nested elements', `<tt xmlns="http://www.w3.org/ns/ttml"><body>${'<div>'.repeat(MANY)}`],
  [
    'styles that refer to each other',
    `<tt xmlns="http://www.w3.org/ns/ttml"><head><styling>${Array.from({ length: 40 }, (_, n) => `<style xml:id="s${n}" style="${'s0 s1 s2 s3 s4 s5 s6 s7 '.repeat(4)}"/>`).join('')}</styling></head><body><p style="s0 s1 s2 s3" begin="0s" end="1s">x</p></body></tt>`,
  ],
  [
    'a paragraph with many times',
    `<tt xmlns="http://www.w3.org/ns/ttml"><body><p>${Array.from({ length: MANY / 10 }, (_, n) => `<span begin="${n}s" end="${n + 2}s">x</span>`).join('')}</p></body></tt>`,
  ],
  ['codes without end', `Scenarist_SCC V1.0\n\n00:00:01:00\t${'9420 '.repeat(MANY)}9420\n`],
] as const)('%s', ([, text]) => {
  expect(outcomeOf(new TextEncoder().encode(text))).toMatch(/^(read|empty|refused)$/)
})

test('cues that all overlap stay small where only one text is shown at a time', () => {
  const run = { text: 'x', bold: false, italic: false, underline: false }
  const cues = Array.from({ length: 5000 }, (_, n) => ({ start: n, end: 10_000 + n, lines: [[run]], place: {} }))
  const flat = flattenCues(cues)
  expect(Math.max(...flat.map(({ lines }) => lines.length))).toBe(16)
})
