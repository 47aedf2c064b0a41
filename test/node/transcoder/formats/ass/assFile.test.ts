// In charge of: captions as ASS: escaping, times on frames, places, line breaks, limits.
// Not in charge of: what libass draws (test/node/transcoder/pipeline/burnIn.test.ts).
import { describe, expect, test } from 'vitest'
import {
  assFile,
  escapeText,
  framesOf,
  lineHeight,
  type AssLook,
} from '../../../../../transcoder/formats/ass/assFile.ts'
import { withoutCrowds } from '../../../../../transcoder/formats/ass/crowds.ts'
import { breakLine } from '../../../../../transcoder/formats/ass/lineBreaks.ts'
import { PLAIN, plainLine, type CaptionCue } from '../../../../../transcoder/formats/captions/captionCue.ts'

const LOOK: AssLook = { width: 1920, height: 1080, frameRate: { num: 25, den: 1 }, white: 255, font: 'Noto Sans' }
const cue = (text: string, change: Partial<CaptionCue> = {}): CaptionCue => ({
  start: 1,
  end: 2,
  lines: text.split('\n').map(plainLine),
  place: {},
  ...change,
})
/** The events, without their first fields. */
const events = (cues: CaptionCue[], look: Partial<AssLook> = {}): string[] =>
  assFile(cues, { ...LOOK, ...look })
    .split('\n')
    .filter((line) => line.startsWith('Dialogue: '))

describe('text of a caption', () => {
  test.each([
    ['{\\p1}m 0 0 l 9 9{\\p0}', '\\{\\\u2060p1\\}m 0 0 l 9 9\\{\\\u2060p0\\}'],
    ['a \\N b \\n c \\h', 'a \\\u2060N b \\\u2060n c \\\u2060h'],
    ['\\{', '\\\u2060\\{'],
    ['C:\\new, file', 'C:\\\u2060new, file'],
    ['a\u0000b\u001bc\u007f\u009d', 'abc'],
    ['a\rDialogue: 0,0:00:00.00', 'a Dialogue: 0,0:00:00.00'],
    ['a\u2028b\u0085c', 'a b c'],
    ['\ud800broken', 'broken'],
    ['\u200fשלום\u200e', '\u200fשלום\u200e'],
  ])('%j is %j', (text, expected) => {
    expect(escapeText(text)).toBe(expected)
  })

  test('can neither begin a line of the file nor a command', () => {
    const hostile = '{\\an5\\fs500}\\N[Events]\rDialogue: 0,0:00:00.00,9:00:00.00,Default,,0,0,0,,{\\p1}'
    const [event, ...more] = events([cue(hostile)])
    expect(more).toEqual([])
    expect(event!.replace('{\\an2}', '')).not.toMatch(/(?<!\\)[{}]/)
    expect(event!.replace('{\\an2}', '')).not.toMatch(/\\[^{}\u2060]/)
  })

  test('has its lines, bold, italics and underline', () => {
    const runs = [
      { text: 'a ', ...PLAIN },
      { text: 'b', bold: true, italic: true, underline: false },
      { text: 'c', bold: false, italic: false, underline: true },
    ]
    expect(events([cue('', { lines: [runs, plainLine('d')] })])[0]).toMatch(
      /,,\{\\an2\}a \{\\b1\\i1\}b\{\\b0\\i0\}\{\\u1\}c\{\\u0\}\\Nd$/,
    )
  })

  test('of nothing but blanks is not drawn', () => {
    expect(events([cue(' \n\t')])).toEqual([])
  })
})

describe('times', () => {
  test.each([
    [25, 1, 0.4, 0.8, [10, 20]],
    [25, 1, 0.401, 0.799, [11, 20]],
    [30_000, 1001, 0.4004, 0.8008, [12, 24]],
    [50, 1, 0, 0.001, [0, 1]],
    [24_000, 1001, 3600, 3601, [86_314, 86_338]],
  ])('%d/%d: %d to %d s are frames %j', (num, den, start, end, frames) => {
    expect(framesOf({ start, end }, { num, den })).toEqual(frames)
  })

  test.each([
    [24_000, 1001],
    [25, 1],
    [30_000, 1001],
    [50, 1],
    [60_000, 1001],
    [60, 1],
    [120_000, 1001],
    [300, 1],
  ])('%d/%d: libass, which sees whole milliseconds, shows each caption in its frames', (num, den) => {
    const factor = num / den > 60 ? 10 : 1
    const milliseconds = (text: string) => {
      const [hours, minutes, seconds] = text.split(':').map(Number) as [number, number, number]
      return Math.round((hours * 3600 + minutes * 60 + seconds) * 1000)
    }
    for (let step = 0; step < 3000; step += 7) {
      const [start, end] = [step * 0.017 + 3590, step * 0.017 + 3590.211]
      const [event] = events([cue('x', { start, end })], { frameRate: { num, den } })
      const [from, to] = event!.split(',').slice(1, 3).map(milliseconds) as [number, number]
      const [first, after] = framesOf({ start, end }, { num, den })
      const at = (frame: number) => Math.floor((frame * 1000 * factor * den) / num)
      expect([at(first - 1) < from, from <= at(first), at(after - 1) < to, to <= at(after)]).toEqual([
        true,
        true,
        true,
        true,
      ])
    }
  })
})

describe('places', () => {
  test.each<[place: CaptionCue['place'], text: string, expected: string]>([
    [{}, 'x', '96,96,54 2'],
    [{ align: 'left' }, 'x', '96,96,54 1'],
    [{ align: 'start' }, 'x', '96,96,54 1'],
    [{ align: 'start' }, '… שלום', '96,96,54 3'],
    [{ align: 'end' }, 'مرحبا', '96,96,54 1'],
    [{ line: { number: 0 } }, 'x', '96,96,54 8'],
    [{ line: { number: 2 } }, 'x', '96,96,182 8'],
    [{ line: { number: -1 } }, 'x', '96,96,54 2'],
    [{ line: { number: -3 } }, 'x', '96,96,182 2'],
    [{ line: { number: -3 } }, 'x\ny', '96,96,118 2'],
    [{ line: { percent: 10, anchor: 'start' } }, 'x', '96,96,108 8'],
    [{ line: { percent: 90, anchor: 'end' } }, 'x', '96,96,108 2'],
    [{ line: { percent: 100, anchor: 'start' } }, 'x', '96,96,54 2'],
    [{ line: { number: 500 } }, 'x', '96,96,962 8'],
    [{ position: { percent: 10, anchor: null }, align: 'start', size: 40 }, 'x', '192,960,54 1'],
    [{ position: { percent: 100, anchor: 'center' } }, 'x', '96,96,54 2'],
    [{ vertical: 'rl', line: { number: 0 } }, 'x', '96,96,54 2'],
  ])('%j of %j', (place, text, expected) => {
    const [, margins, alignment] = /Default,,(\d+,\d+,\d+),,\{\\an(\d)\}/.exec(events([cue(text, { place })])[0]!)!
    expect(`${margins} ${alignment}`).toBe(expected)
  })

  test.each([
    [1920, 1080, 64],
    [1080, 1920, 64],
    [640, 360, 21],
    [426, 240, 18],
    [320, 180, 18],
    [96, 64, 11],
    [7680, 4320, 255],
  ])('a line in %d × %d has %d pixels', (width, height, pixels) => {
    expect(lineHeight({ width, height })).toBe(pixels)
  })
})

describe('line breaks', () => {
  const room = { width: 1728, wide: 47, narrow: 27 }
  test.each([
    ['which fit', 'これは短い字幕です。', []],
    ['at blanks are left to libass', 'word '.repeat(100), []],
  ])('%s', (_title, text, expected) => {
    expect(breakLine(text, room)).toEqual(expected)
  })

  test('of Japanese lie between words, in lines of about equal length', () => {
    const text =
      'これは日本語の長い字幕です。改行のない文章がとても長く続く場合でも、画面の外にはみ出さないようにします。'
    const [at, ...more] = breakLine(text, room)
    expect(more).toEqual([])
    expect(text[at!]).not.toMatch(/[、。」]/)
    expect(Math.abs(at! - text.length / 2)).toBeLessThan(8)
  })

  test('keep characters of several code points whole', () => {
    const family = '👩‍👩‍👧‍👦'
    const text = family.repeat(60)
    for (const at of breakLine(text, room)) expect(at % family.length).toBe(0)
    expect(breakLine(text, room).length).toBeGreaterThan(0)
  })

  test('survive styles', () => {
    const long = 'あ'.repeat(40)
    const runs = [
      { text: long, bold: true, italic: false, underline: false },
      { text: long, ...PLAIN },
    ]
    const [event] = events([cue('', { lines: [runs] })])
    expect(event!.match(/\\N/g)!.length).toBeGreaterThan(1)
    expect(event!.replaceAll(/\\N|\{[^}]*\}/g, '').endsWith(long + long)).toBe(true)
  })
})

test('captions beyond what a frame can show are left out', () => {
  const crowd = Array.from({ length: 100_000 }, (_, index) => cue(`${index}`, { start: 0, end: 3600 }))
  const { cues, left } = withoutCrowds([...crowd, cue('later', { start: 3600, end: 3601 })])
  expect([cues.length, left]).toEqual([17, 99_984])
  expect(cues.at(-1)?.lines[0]?.[0]?.text).toBe('later')
  const long = Array.from({ length: 3 }, () => cue('x'.repeat(5000)))
  expect(withoutCrowds(long).cues).toHaveLength(1)
})
