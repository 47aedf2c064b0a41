// CEA-608 that the encoder writes, read by our decoder, which is tested with real broadcasts.
import { describe, expect, test } from 'vitest'
import { CHANNELS_608, type Channel608 } from '#contract/captions.ts'
import { plainLine, type CaptionCue } from '../../../../../transcoder/formats/captions/captionCue.ts'
import { CaptionDecoder } from '../../../../../transcoder/formats/cea/captionDecoder.ts'
import { captionFrames } from '../../../../../transcoder/formats/cea/captionFrames.ts'
import { fieldOf } from '../../../../../transcoder/formats/cea/codes608.ts'
import { encodeCaption } from '../../../../../transcoder/formats/cea/encoder608.ts'
import { scheduleField, type TimedCaption } from '../../../../../transcoder/formats/cea/schedule608.ts'

const RATE = { num: 30_000, den: 1001 }
const SECONDS = RATE.den / RATE.num

const cue = (text: string, place: CaptionCue['place'] = {}) => ({ lines: text.split('\n').map(plainLine), place })

function timed(channel: Channel608, show: number, clear: number, content: ReturnType<typeof cue>): TimedCaption {
  return { channel, show, clear, groups: encodeCaption(content, channel).groups }
}

function decode(captions: readonly TimedCaption[], rate = RATE) {
  const schedules = [0, 1].map((field) => scheduleField(captions.filter(({ channel }) => fieldOf(channel) === field)))
  const decoder = new CaptionDecoder()
  let frame = 0
  for (const ccData of captionFrames({ fields: [schedules[0]!.pairs, schedules[1]!.pairs] }, rate)) {
    decoder.push((frame * rate.den) / rate.num, ccData)
    frame += 1
  }
  const { channels } = decoder.end((frame * rate.den) / rate.num)
  return { schedules, channels, cues: new Map(channels.map(({ channel, cues }) => [channel, cues])) }
}

test('each channel has its own codes, and a decoder reads all four', () => {
  // Equal times: both channels of a field are loaded before either is shown.
  const { cues, schedules } = decode(
    CHANNELS_608.flatMap((channel) => [
      timed(channel, 200, 260, cue(`First of ${channel}`)),
      timed(channel, 300, 360, cue(`Second of ${channel}, ñ ♪♪ É`)),
    ]),
  )
  for (const channel of CHANNELS_608) {
    const found = cues.get(channel)!
    expect(found.map(({ text }) => text)).toEqual([`First of ${channel}`, `Second of ${channel}, ñ ♪♪ É`])
    for (const [at, [start, end]] of [
      [200, 260],
      [300, 360],
    ].entries()) {
      expect(Math.abs(found[at]!.start / SECONDS - start!)).toBeLessThan(3.1)
      expect(Math.abs(found[at]!.end / SECONDS - end!)).toBeLessThan(3.1)
    }
  }
  expect(schedules.flatMap(({ leftOut }) => leftOut)).toEqual([])
})

test('every character of CEA-608 is read back', () => {
  const rows = ['áéíóúç÷Ññ█®°½¿™¢£♪àèâêîôû', 'ÁÉÓÚÜü‘¡*—©℠•“”ÀÂÇÈÊËëÎÏïÔÙùÛ', '«»ÃãÍÌìÒòÕõ{}\\^_|~', 'ÄäÖöß¥¤│ÅåØø┌┐└┘']
  const { cues } = decode([timed('CC1', 300, 360, cue(rows.join('\n')))])
  expect(cues.get('CC1')!.map(({ text }) => text)).toEqual([rows.join('\n')])
})

describe('layout', () => {
  test('long lines are wrapped at blanks, and words longer than a row are cut', () => {
    const { cues } = decode([timed('CC1', 300, 360, cue(`${'word '.repeat(9)}${'x'.repeat(40)}`))])
    expect(cues.get('CC1')!.map(({ text }) => text)).toEqual([
      `${'word '.repeat(6).trim()}\nword word word\n${'x'.repeat(32)}\n${'x'.repeat(8)}`,
    ])
  })

  test('rows and columns follow the place of the cue', () => {
    const at = (place: CaptionCue['place']) => {
      const [, , row, tab] = encodeCaption(cue('1234', place), 'CC1').groups
      return [row![0]!.toString(16), (tab![0]! & 0xff00) === 0x1700 ? tab![0]! & 3 : 0]
    }
    expect(at({})).toEqual(['1476', 2]) // row 15, column 14
    expect(at({ line: { number: 0 }, align: 'start' })).toEqual(['1150', 0])
    expect(at({ line: { percent: 100, anchor: 'end' }, align: 'end' })).toEqual(['147e', 0])
    expect(at({ line: { number: -2 }, position: { percent: 0, anchor: 'line-left' } })).toEqual(['1450', 0])
  })

  test('italics and underline take the blank before them, and rows stay within 32 columns', () => {
    const run = (text: string, italic: boolean) => ({ text, italic, bold: false, underline: false })
    const { groups } = encodeCaption(
      { lines: [[run('a ', false), run('b', true), run(' c', false)]], place: {} },
      'CC1',
    )
    // a, italics, b, plain, c.
    expect(groups.slice(-5).map(([first]) => first!.toString(16))).toEqual(['6100', '112e', '6200', '1120', '6300'])
    const long = encodeCaption({ lines: [[run('x'.repeat(32), true)]], place: {} }, 'CC1')
    const characters = long.groups.flat().filter((pair) => pair >= 0x2000).length
    expect(characters).toBe(17)
  })

  test('what has no character is named, and replaced by its base letter', () => {
    const { missing, rowsLeftOut } = encodeCaption(cue('Č 漢 \u202bñ\n'.repeat(16)), 'CC1')
    expect([missing, rowsLeftOut]).toEqual([['Č', '漢'], 2])
  })
})

test('captions in quick succession are late or left out, never garbled', () => {
  const texts = Array.from({ length: 20 }, (_, index) => `Caption ${index} with thirty-two of them`)
  const { cues, schedules } = decode(texts.map((text, index) => timed('CC1', 10 * index, 10 * index + 9, cue(text))))
  const { late, leftOut } = schedules[0]!
  expect(late.length + leftOut.length).toBe(20)
  expect(cues.get('CC1')!.length).toBe(late.length)
  const shown = cues.get('CC1')!.map(({ text }) => text.replaceAll('\n', ' '))
  expect(texts.filter((text) => shown.includes(text))).toEqual(shown)
})

test.for([
  [24_000, 1001, 25],
  [25, 1, 24],
  [30_000, 1001, 20],
  [50, 1, 12],
  [60_000, 1001, 10],
  [10, 1, 31],
])('%i/%i frames per second: %i triplets in each frame, and every pair arrives', ([num = 0, den = 1, count = 0]) => {
  const { pairs } = scheduleField([timed('CC1', 100, 200, cue('Text'))])
  const frames = [...captionFrames({ fields: [pairs, pairs] }, { num, den })]
  expect(new Set(frames.map((frame) => frame.length / 3))).toEqual(new Set([count]))
  for (const field of [0, 1]) {
    const sent = frames.flatMap((frame) =>
      Array.from({ length: count }, (_, at) => frame.subarray(3 * at, 3 * at + 3))
        .filter(([flags]) => flags === (0xfc | field))
        .map(([, first = 0, second = 0]) => ((first & 0x7f) << 8) | (second & 0x7f)),
    )
    expect(sent.filter((pair) => pair !== 0)).toEqual(pairs.map(({ pair }) => pair))
    for (const { slot, pair } of pairs) expect(sent[slot]).toBe(pair)
  }
})
