// Caption bytes inside pictures, found and named. The real streams are in test/node/ffmpeg/captions.test.ts.
import { describe, expect, test } from 'vitest'
import { captionChannels } from '../../../transcoder/captions/channels.ts'
import { readUserData } from '../../../transcoder/captions/userdata.ts'

const ascii = (text: string) => [...Buffer.from(text, 'latin1')]
const triplets = [0xfc, 0x94, 0x20, 0xfd, 0x15, 0x2c]
/** A/53 user data: identifier, type, flags and count, reserved, triplets, marker. */
const a53 = [...ascii('GA94'), 3, 0x40 | 2, 0xff, ...triplets, 0xff]
const afd = [...ascii('DTG1'), 0x41, 0xf8]
const message = (body: number[]) => {
  const payload = [0xb5, 0x00, 0x31, ...body]
  return [4, payload.length, ...payload]
}
const start = [0, 0, 1]

describe('user data', () => {
  test.each([
    ['h264', [...start, 0x06, ...message(a53), 0x80]],
    ['hevc', [...start, 0x4e, 0x01, ...message(a53), 0x80]],
    ['hevc', [...start, 0x50, 0x01, ...message(a53), 0x80]],
    ['mpeg2', [...start, 0xb2, ...a53]],
    // Another message in front, longer than one byte can say.
    ['h264', [...start, 0x06, 5, 0xff, 45, ...Array.from({ length: 300 }, () => 7), ...message(a53), 0x80]],
    // Another unit in front and behind.
    ['h264', [...start, 0x09, 0x10, 0, ...start, 0x06, ...message(a53), 0x80, ...start, 0x65, 1, 2, 3]],
  ] as const)('%s: %#', (codec, bytes) => {
    expect(readUserData(Uint8Array.from(bytes), codec)).toEqual({
      captions: [Uint8Array.from(triplets)],
      activeFormat: false,
    })
  })

  test('emulation prevention is undone in H.264 and HEVC, where two zeros and a 1 may not appear', () => {
    const escaped = [...ascii('GA94'), 3, 0x41, 0xff, 0xfc, 0, 0, 3, 1]
    const payload = [0xb5, 0x00, 0x31, ...escaped]
    const unit = Uint8Array.from([...start, 0x06, 4, payload.length - 1, ...payload, 0x80])
    // The size counts bytes without the prevention byte; the last of them is the marker.
    expect(readUserData(unit, 'h264').captions).toEqual([Uint8Array.of(0xfc, 0, 0)])
  })

  test.each([
    ['h264', [...start, 0x06, ...message(afd), 0x80]],
    ['mpeg2', [...start, 0xb2, ...afd]],
  ] as const)('an active format description in %s', (codec, bytes) => {
    expect(readUserData(Uint8Array.from(bytes), codec)).toEqual({ captions: [], activeFormat: true })
  })

  test('cut anywhere, or nonsense: nothing is invented and nothing throws', () => {
    const whole = [...start, 0x06, ...message(a53), 0x80]
    for (let length = 0; length < whole.length; length += 1)
      for (const codec of ['h264', 'hevc', 'mpeg2'] as const)
        expect(readUserData(Uint8Array.from(whole.slice(0, length)), codec).captions.length).toBeLessThan(2)
    expect(readUserData(new Uint8Array(1000).fill(0xff), 'h264').captions).toEqual([])
    // Caption data that says of itself that it is not to be processed.
    expect(readUserData(Uint8Array.from([...start, 0xb2, ...ascii('GA94'), 3, 2, 0xff, ...triplets]), 'mpeg2')).toEqual(
      {
        captions: [],
        activeFormat: false,
      },
    )
  })
})

describe('channels and services', () => {
  test.each([
    [[0xfc, 0x94, 0x20], ['CC1']], // resume caption loading, with parity
    [[0xfc, 0x14, 0x25], ['CC1']], // roll-up, without
    [[0xfc, 0x1c, 0x29], ['CC2']],
    [[0xfd, 0x15, 0x20], ['CC3']],
    [[0xfd, 0x1d, 0x26], ['CC4']],
    [[0xfd, 0x14, 0x20], ['CC3']],
    [[0xfc, 0x14, 0x2a], ['T1']],
    [[0xfc, 0x14, 0x2c], []], // erase: no channel is begun by it
    [[0xfc, 0x80, 0x80], []], // padding
    [[0xfc, 0x48, 0x49], []], // text alone
    [[0xf8, 0x94, 0x20], []], // not valid
    [[0xff, 0x02, 0x22, 0xfe, 0x41, 0x42], ['SERVICE1']],
    [
      [0xff, 0x03, 0x21, 0xfe, 0x41, 0x41, 0xfe, 0x42, 0],
      ['SERVICE1', 'SERVICE2'],
    ],
    [[0xff, 0x02, 0xe1, 0xfe, 0x09, 0x42], ['SERVICE9']],
    [[0xff, 0x02, 0x00, 0xfe, 0x00, 0x00], []],
    [[0xfe, 0x22, 0x41], []], // the middle of a packet that began elsewhere
    [
      [0xfc, 0x94, 0x20, 0xfd, 0x1d, 0x26, 0xff, 0x02, 0x22],
      ['CC1', 'CC4', 'SERVICE1'],
    ],
  ])('%j: %j', (bytes, expected) => {
    expect(captionChannels([Uint8Array.from(bytes)])).toEqual(expected)
  })

  test('pictures may come in any order', () => {
    const pictures = [
      [0xfd, 0x15, 0x20],
      [0xff, 0x02, 0x42],
      [0xfc, 0x94, 0x20],
    ].map((bytes) => Uint8Array.from(bytes))
    expect(captionChannels(pictures)).toEqual(['CC1', 'CC3', 'SERVICE2'])
    expect(captionChannels(pictures.toReversed())).toEqual(captionChannels(pictures))
  })
})
