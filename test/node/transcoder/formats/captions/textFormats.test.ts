// In charge of: reading SubRip and WebVTT files: times, text, styles, places, encodings, and what is refused.
// Not in charge of: the tracks of outputs (test/node/transcoder/pipeline/sidecarCaptions.test.ts).
import { expect, test } from 'vitest'
import { plainText, type CaptionCue } from '../../../../../transcoder/formats/captions/captionCue.ts'
import { formatCueSettings } from '../../../../../transcoder/formats/captions/cueSettings.ts'
import { readCaptions } from '../../../../../transcoder/formats/captions/readCaptions.ts'

const read = (text: string | Uint8Array, offsetSeconds: number | null = null) =>
  readCaptions(typeof text === 'string' ? new TextEncoder().encode(text) : text, { format: null, offsetSeconds })
const listed = (cues: readonly CaptionCue[]) => cues.map((cue) => [cue.start, cue.end, plainText(cue)])
/** Styles as letters before each run: `bi:`. */
const styled = ({ lines }: CaptionCue) =>
  lines.map((runs) =>
    runs.map(
      ({ text, bold, italic, underline }) => `${bold ? 'b' : ''}${italic ? 'i' : ''}${underline ? 'u' : ''}:${text}`,
    ),
  )

test('SubRip as programs write it, and as people do', () => {
  const plain = read(
    '1\r\n00:00:01,000 --> 00:00:02,500\r\nHello\r\nworld\r\n\r\n2\r\n01:00:00,040 --> 01:00:01,000\r\nBye\r\n',
  )
  expect(plain.format).toBe('srt')
  expect(listed(plain.cues)).toEqual([
    [1, 2.5, 'Hello\nworld'],
    [3600.04, 3601, 'Bye'],
  ])
  // No numbers, points for commas, short fractions, an empty line in the text, coordinates, out of order, no last line feed.
  const loose = read(
    '00:00:05.5 --> 00:00:06.25 X1:10 X2:20 Y1:1 Y2:2\nsecond\n\nline\n\n\n0:00:01,1 --> 0:00:02,04\nfirst\n\n3\n00:00:07,000 --> 00:00:08,000\n42',
  )
  expect(listed(loose.cues)).toEqual([
    [1.1, 2.04, 'first'],
    [5.5, 6.25, 'second\nline'],
    [7, 8, '42'],
  ])
})

test('styles and places of SubRip; other signs are text', () => {
  const { cues } = read(
    [
      '1\n00:00:01,000 --> 00:00:02,000\n<i>One <b>two</b></i>\n<u>three</u> 1 < 2 & a <x> {sic}\n',
      '2\n00:00:03,000 --> 00:00:04,000\n{\\an8}<font color="#fff">At the top</font>\n',
      '3\n00:00:05,000 --> 00:00:06,000\n{\\an1}&lt;i&gt; {i}italics{/i}\n',
    ].join('\n'),
  )
  expect(styled(cues[0]!)).toEqual([
    ['i:One ', 'bi:two'],
    ['u:three', ': 1 < 2 & a <x> {sic}'],
  ])
  expect(plainText(cues[1]!)).toBe('At the top')
  expect(formatCueSettings(cues[1]!.place)).toBe('line:5%')
  expect(styled(cues[2]!)).toEqual([[':<i> ', 'i:italics']])
  expect(formatCueSettings(cues[2]!.place)).toBe('position:5% align:left')
})

test('WebVTT: headers, comments, styles, identifiers, settings, references', () => {
  const { format, cues } = read(
    [
      'WEBVTT - title\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0\n',
      'STYLE\n::cue { color: red }\n',
      'NOTE 00:01 --> no cue\nanother line\n',
      'intro\n00:01.000 --> 00:02.000 line:10% position:20%,line-left align:start size:40%\n<v Anna><i>Hi</i> &amp; <c.big>bye</c>\n',
      '00:00:03.000 --> 100:00:04.000 vertical:rl line:-2 align:middle\n<ruby>漢<rt>kan</rt></ruby>&lrm;字 &unknown; <00:03.500>x',
      '00:00:05.000 --> 00:00:06.000\nwithout an empty line before\n',
    ].join('\n'),
  )
  expect(format).toBe('webvtt')
  expect(listed(cues)).toEqual([
    [1, 2, 'Hi & bye'],
    [3, 360_004, '漢\u200E字 &unknown; x'],
    [5, 6, 'without an empty line before'],
  ])
  expect(styled(cues[0]!)).toEqual([['i:Hi', ': & bye']])
  expect(formatCueSettings(cues[0]!.place)).toBe('line:10% position:20%,line-left size:40% align:start')
  expect(formatCueSettings(cues[1]!.place)).toBe('vertical:rl line:-2 align:center')
})

test.for([
  [
    'UTF-8 with a byte order mark',
    Buffer.from('\uFEFF1\n00:00:01,000 --> 00:00:02,000\nשלום 你好 é\n'),
    'שלום 你好 é',
    [],
  ],
  ['UTF-16LE', Buffer.from('\uFEFF1\n00:00:01,000 --> 00:00:02,000\nשלום é\n', 'utf16le'), 'שלום é', []],
  ['UTF-16BE', Buffer.from('\uFEFF1\n00:00:01,000 --> 00:00:02,000\n你好\n', 'utf16le').swap16(), '你好', []],
  [
    'Windows-1252',
    Buffer.from('1\n00:00:01,000 --> 00:00:02,000\n\x80 caf\xe9 \x93ok\x94\n', 'latin1'),
    '€ café “ok”',
    ['encoding'],
  ],
] as const)('%s', ([, bytes, text, remarks]) => {
  const file = read(new Uint8Array(bytes))
  expect(listed(file.cues)).toEqual([[1, 2, text]])
  expect(file.remarks.map(({ kind }) => kind)).toEqual(remarks)
})

test.for([
  ['an empty file', '', ['empty']],
  ['blank lines', '\n\n  \n', ['empty']],
  ['WebVTT without cues', 'WEBVTT\n\nNOTE nothing\n', ['empty']],
  ['a caption that ends before it begins', '1\n00:00:02,000 --> 00:00:01,000\nx\n', ['times', 'empty']],
  ['a caption without text', '1\n00:00:01,000 --> 00:00:02,000\n\n', ['empty']],
] as const)('%s makes an empty track', ([, text, remarks]) => {
  const file = read(text)
  expect(file.cues).toEqual([])
  expect(file.remarks.map(({ kind }) => kind)).toEqual(remarks)
})

test.for([
  ['text that is no captions', 'Dear Sir,\n\nno times here', 1],
  ['times that cannot be read', '1\n00:00:01,000 --> 00:00:02,000\na\n\n2\n00:00:xx,000 --> 00:00:04,000\nb\n', 6],
  ['a second above 59', '1\n00:00:61,000 --> 00:01:02,000\na\n', 2],
  ['WebVTT times that cannot be read', 'WEBVTT\n\nid\n00:01 --> 00:02\nx\n', 4],
] as const)('%s: refused with its line', ([, text, line]) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ name: 'CaptionError', line }))
})

test('an offset is added to all times', () => {
  expect(listed(read('1\n01:00:01,000 --> 01:00:02,000\nx\n', -3600).cues)).toEqual([[1, 2, 'x']])
})
