// Caption bytes in video user data, and their channels. Real streams:
// test/node/transcoder/encoding/captionPassthrough.test.ts.
import { describe, expect, test } from 'vitest'
import { captionChannels } from '../../../../../transcoder/formats/cea/channelScan.ts'
import { readUserData } from '../../../../../transcoder/formats/video/userData.ts'
import { scte20UserData } from '../../../../support/captions/scte20Video.ts'

const ascii = (text: string) => [...Buffer.from(text, 'latin1')]
const triplets = [0xfc, 0x94, 0x20, 0xfd, 0x15, 0x2c]
/** A/53 user data: identifier, type, flags and count, reserved, triplets, marker. */
const a53 = [...ascii('GA94'), 3, 0x40 | 2, 0xff, ...triplets, 0xff]
const afd = [...ascii('DTG1'), 0x41, 0xf8]
const message = (body: number[]) => {
  const requestBody = [0xb5, 0x00, 0x31, ...body]
  return [4, requestBody.length, ...requestBody]
}
const start = [0, 0, 1]

describe('user data', () => {
  test.each([
    ['h264', [...start, 0x06, ...message(a53), 0x80]],
    ['hevc', [...start, 0x4e, 0x01, ...message(a53), 0x80]],
    ['hevc', [...start, 0x50, 0x01, ...message(a53), 0x80]],
    ['mpeg2', [...start, 0xb2, ...a53]],
    // Preceded by another message, longer than 255 bytes.
    ['h264', [...start, 0x06, 5, 0xff, 45, ...Array.from({ length: 300 }, () => 7), ...message(a53), 0x80]],
    // Another unit before and after.
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
    // The size counts bytes without the emulation prevention byte; the last of them is the marker.
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
    // Caption data whose process_cc_data_flag is 0.
    expect(readUserData(Uint8Array.from([...start, 0xb2, ...ascii('GA94'), 3, 2, 0xff, ...triplets]), 'mpeg2')).toEqual(
      {
        captions: [],
        activeFormat: false,
      },
    )
  })
})

describe('captions of SCTE 20 in MPEG-2', () => {
  const picture = [...start, 0x00, 0x00, 0x0f, 0xff, 0xf8]
  /** picture_coding_extension: picture_structure and top_field_first. */
  const coding = (structure: number, topFirst: boolean) => [
    ...start,
    0xb5,
    0x8f,
    0xff,
    0xf0 | structure,
    topFirst ? 0x80 : 0x00,
    0x80,
  ]
  const pairs = [
    [1, 0x94, 0x20],
    [2, 0x15, 0x2c],
  ] as const
  const read = (bytes: number[]) => readUserData(Uint8Array.from(bytes), 'mpeg2').captions.map((each) => [...each])

  test.each([
    ['top field first', 3, true, [0xfc, 0x94, 0x20, 0xfd, 0x15, 0x2c]],
    ['bottom field first', 3, false, [0xfd, 0x94, 0x20, 0xfc, 0x15, 0x2c]],
    ['a top field alone', 1, false, [0xfc, 0x94, 0x20, 0xfd, 0x15, 0x2c]],
    ['a bottom field alone', 2, false, [0xfd, 0x94, 0x20, 0xfc, 0x15, 0x2c]],
  ] as const)('%s: the bytes of each field, lowest bit last', (_, structure, topFirst, expected) => {
    expect(read([...picture, ...coding(structure, topFirst), ...scte20UserData(pairs), ...start, 1, 2])).toEqual([
      expected,
    ])
  })

  test('several messages in one frame are joined; the third field repeats the first', () => {
    const bytes = [
      ...picture,
      ...coding(3, true),
      ...scte20UserData([
        [1, 1, 2],
        [3, 3, 4],
      ]),
      ...scte20UserData([[2, 5, 6]]),
    ]
    expect(read(bytes)).toEqual([[0xfc, 1, 2, 0xfc, 3, 4, 0xfd, 5, 6]])
    expect(read([...bytes, ...picture, ...coding(3, true), ...scte20UserData([[1, 7, 8]])])).toHaveLength(2)
  })

  test('SCTE 20 captions that repeat A/53 captions are skipped', () => {
    const both = [...picture, ...coding(3, true), ...scte20UserData(pairs), ...start, 0xb2, ...a53]
    expect(read(both)).toEqual([triplets])
    expect(read([...both, ...both])).toEqual([triplets, triplets])
  })

  test('cut anywhere, or without captions: nothing is invented', () => {
    const whole = [...picture, ...coding(3, true), ...scte20UserData(pairs)]
    for (let length = 0; length < whole.length; length += 1)
      for (const found of read(whole.slice(0, length))) expect(triplets.join()).toContain(found.join())
    expect(read([...picture, ...start, 0xb2, 3, 0x80, 0xff, 0xff, 0xff, 0xff])).toEqual([])
    expect(read([...picture, ...coding(3, true), ...scte20UserData([[0, 1, 2]])])).toEqual([])
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
    [[0xfc, 0x14, 0x2c], []], // erase: it starts no channel
    [[0xfc, 0x80, 0x80], []], // padding
    [[0xfc, 0x48, 0x49], []], // text without a command
    [[0xf8, 0x94, 0x20], []], // not valid
    [[0xff, 0x02, 0x22, 0xfe, 0x41, 0x42], ['SERVICE1']],
    [
      [0xff, 0x03, 0x21, 0xfe, 0x41, 0x41, 0xfe, 0x42, 0],
      ['SERVICE1', 'SERVICE2'],
    ],
    [[0xff, 0x02, 0xe1, 0xfe, 0x09, 0x42], ['SERVICE9']],
    [[0xff, 0x02, 0x00, 0xfe, 0x00, 0x00], []],
    [[0xfe, 0x22, 0x41], []], // the middle of a packet that started elsewhere
    [
      [0xfc, 0x94, 0x20, 0xfd, 0x1d, 0x26, 0xff, 0x02, 0x22],
      ['CC1', 'CC4', 'SERVICE1'],
    ],
  ])('%j: %j', (bytes, expected) => {
    expect(captionChannels([Uint8Array.from(bytes)])).toEqual(expected)
  })

  test('frames may arrive in any order', () => {
    const pictures = [
      [0xfd, 0x15, 0x20],
      [0xff, 0x02, 0x42],
      [0xfc, 0x94, 0x20],
    ].map((bytes) => Uint8Array.from(bytes))
    expect(captionChannels(pictures)).toEqual(['CC1', 'CC3', 'SERVICE2'])
    expect(captionChannels(pictures.toReversed())).toEqual(captionChannels(pictures))
  })
})
