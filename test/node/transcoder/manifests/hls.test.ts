// In charge of: playlists against the rules of RFC 8216bis, another parser, and line by line.
// Not in charge of: playing them.
import HLS from 'hls-parser'
import { describe, expect, test } from 'vitest'
import { hlsObjects } from '../../../../transcoder/manifests/manifestObjects.ts'
import { iframePlaylist, imagePlaylist, mediaPlaylist } from '../../../../transcoder/manifests/hls/mediaPlaylist.ts'
import { multivariantPlaylist } from '../../../../transcoder/manifests/hls/multivariantPlaylist.ts'
import type { Presentation } from '../../../../transcoder/manifests/presentation/presentation.ts'
import {
  averageRate,
  peakRate,
  segmentDurations,
} from '../../../../transcoder/manifests/presentation/segmentBitrates.ts'
import {
  makeAudioTrack,
  makeCueEvent,
  SEGMENT_ENDS,
  examplePresentation,
  makeSegments,
  makeVideoTrack,
} from '../../../support/manifests/examplePresentation.ts'
import { parseAttributes, hlsRuleViolations, readTags } from '../../../support/manifests/hlsRules.ts'

function playlists(made: Presentation): Map<string, string> {
  return new Map(hlsObjects(made).map(({ path, body }) => [path, body]))
}

const tagsOf = (text: string, name: string) =>
  readTags(text)
    .filter((tag) => tag.name === name)
    .map(({ value }) => parseAttributes(value))

const ts = { form: 'ts', init: null, timescale: 90_000 } as const
const muxed = makeVideoTrack({
  ...ts,
  segments: makeSegments(90_000, SEGMENT_ENDS, [600]).map((one) => ({ ...one, uri: one.uri.replace('.m4s', '.ts') })),
  codecs: ['avc1.64001f', 'mp4a.40.2'],
  audioTracks: [],
  muxedAudio: [makeAudioTrack(0).format],
  captionChannels: [],
})
const plain = { text: [], thumbnails: null, cues: [] }

describe('presentations that keep every rule', () => {
  test.each<[string, Presentation]>([
    ['everything at once', examplePresentation()],
    [
      'transport streams with their audio inside',
      examplePresentation({ ...plain, video: [muxed], audio: [], hasCaptions: false }),
    ],
    ['no audio at all', examplePresentation({ ...plain, video: [makeVideoTrack({ audioTracks: [] })], audio: [] })],
    [
      'captions in one rung only',
      examplePresentation({
        video: [makeVideoTrack(), makeVideoTrack({ id: 'b', directory: 'b', captionChannels: [] })],
      }),
    ],
    [
      'names that mean something in URIs',
      examplePresentation({ ...plain, video: [makeVideoTrack({ directory: 'a b/#1?,"ü$' })] }),
    ],
    ['a start that is not 1970', examplePresentation({ ...plain, programStart: Date.UTC(2026, 0, 1) })],
  ])('%s', (_, made) => {
    expect(hlsRuleViolations(playlists(made))).toEqual([])
    for (const text of playlists(made).values()) HLS.parse(text)
  })
})

test('the rules see planted faults', () => {
  const good = playlists(examplePresentation())
  const planted = (path: string, from: string | RegExp, to: string) =>
    hlsRuleViolations(new Map([...good, [path, good.get(path)!.replace(from, to)]]))
  expect(planted('video_0/playlist.m3u8', 'TARGETDURATION:6', 'TARGETDURATION:5').join()).toContain(
    'longer than the target',
  )
  expect(planted('video_0/playlist.m3u8', 'TARGETDURATION:6', 'TARGETDURATION:7').join()).toContain('different target')
  expect(planted('video_1/playlist.m3u8', '#EXTINF:4.000000', '#EXTINF:4.040000').join()).toContain(
    'does not end where',
  )
  expect(planted('video_0/playlist.m3u8', 'VERSION:6', 'VERSION:5').join()).toContain('needs version 6')
  expect(planted('video_0/playlist.m3u8', /#EXT-X-PROGRAM.*\n/, '').join()).toContain('without PROGRAM-DATE-TIME')
  expect(planted('video_0/playlist.m3u8', '00002.m4s', '00001.m4s').join()).toContain('a segment twice')
  expect(planted('video_0/playlist.m3u8', '#EXT-X-ENDLIST\n', '').join()).toContain('not a finished VOD')
  expect(planted('master.m3u8', 'NAME="German"', 'NAME="English"').join()).toContain('a NAME twice')
  expect(planted('master.m3u8', 'AUDIO="aac"', 'AUDIO="no"').join()).toContain('no group no')
  expect(planted('master.m3u8', /#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="ac3",NAME="German".*\n/, '').join()).toContain(
    'different members',
  )
  expect(planted('master.m3u8', 'CLOSED-CAPTIONS="cc"', 'CLOSED-CAPTIONS=NONE').join()).toContain(
    'NONE must stand on all',
  )
  expect(planted('master.m3u8', 'video_0/playlist', 'video_9/playlist').join()).toContain('does not exist')
  expect(planted('master.m3u8', 'NAME="English"', 'NAME="Eng"lish"').join()).toContain('not an attribute list')
})

describe('the multivariant playlist', () => {
  test('lists every rendition with every audio codec, and their combined CODECS and bandwidth', () => {
    const made = examplePresentation()
    const variants = tagsOf(multivariantPlaylist(made), 'EXT-X-STREAM-INF')
    expect(variants.map((one) => [one.get('RESOLUTION'), one.get('AUDIO'), one.get('CODECS')])).toEqual([
      ['1280x720', 'aac', 'avc1.64001f,mp4a.40.2'],
      // The German audio was requested only in AAC, and is added to this group.
      ['1280x720', 'ac3', 'avc1.64001f,ac-3,mp4a.40.2'],
      ['1024x576', 'aac', 'avc1.64001e,mp4a.40.2'],
      ['1024x576', 'ac3', 'avc1.64001e,ac-3,mp4a.40.2'],
    ])
    // 500 + 300 kB in the 6 s of segments 2 and 3; segment 3 alone is too short to count.
    expect(peakRate(made.video[0]!)).toBe(Math.ceil((800_000 * 8) / 6))
    // Audio is 2 × 128 or 384 kB in about 6 s; captions are 2 kB.
    const bandwidths = variants.map((one) => Number(one.get('BANDWIDTH')))
    const sums = [
      1_066_667 + 341_333 + 2667,
      1_066_667 + 1_024_000 + 2667,
      333_334 + 341_333 + 2667,
      333_334 + 1_024_000 + 2667,
    ]
    bandwidths.forEach((bandwidth, at) => expect(Math.abs(bandwidth / sums[at]! - 1)).toBeLessThan(0.005))
    expect(variants[0]!.get('FRAME-RATE')).toBe('25.000')
  })

  test.each<[string, string[][], [string, string[]][]]>([
    [
      'encodings of one sound',
      [['audio_0'], ['audio_2']],
      [
        ['aac-0', ['English audio_0']],
        ['ac3-2', ['English audio_2']],
      ],
    ],
    [
      'one language each',
      [['audio_0'], ['audio_1']],
      [
        ['aac-0', ['English audio_0']],
        ['aac-1', ['German audio_1']],
      ],
    ],
    [
      'a part of what another has, and nothing',
      [['audio_0'], ['audio_0', 'audio_1'], []],
      [
        ['aac-0', ['English audio_0']],
        ['aac-0-1', ['English audio_0', 'German audio_1']],
      ],
    ],
    [
      'two with the same',
      [['audio_0', 'audio_2'], ['audio_1'], ['audio_2', 'audio_0']],
      [
        ['aac-0', ['English audio_0']],
        ['ac3-2', ['English audio_2']],
        ['aac-1', ['German audio_1']],
      ],
    ],
  ])('offers each variant what its profile selects and nothing else: %s', (_, selections, expected) => {
    const made = examplePresentation({
      ...plain,
      video: selections.map((audioTracks, at) => makeVideoTrack({ id: `v${at}`, directory: `v${at}`, audioTracks })),
    })
    const master = multivariantPlaylist(made)
    const media = tagsOf(master, 'EXT-X-MEDIA').filter((one) => one.get('TYPE') === 'AUDIO')
    const groups = Map.groupBy(media, (one) => one.get('GROUP-ID')!)
    const members = (id: string) =>
      groups.get(id)!.map((one) => `${one.get('NAME')} ${one.get('URI')!.replace('/playlist.m3u8', '')}`)
    expect([...groups.keys()].map((id) => [id, members(id)])).toEqual(expected)
    const tags = readTags(master)
    const variants = tags.flatMap(({ name, value }, at) =>
      name === 'EXT-X-STREAM-INF'
        ? [{ ...Object.fromEntries(parseAttributes(value)), track: tags[at + 1]!.value.split('/')[0]! }]
        : [],
    ) as { AUDIO?: string; CODECS: string; track: string }[]
    const offered = new Map<string, Set<string>>()
    for (const { AUDIO: group, track } of variants) {
      const tracks = group === undefined ? [] : groups.get(group)!.map((one) => one.get('URI')!.split('/')[0]!)
      offered.set(track, new Set([...(offered.get(track) ?? []), ...tracks]))
    }
    expect([...offered]).toEqual(selections.map((ids, at) => [`v${at}`, new Set(ids)]))
    if (selections.some((ids) => ids.length === 0)) expect(variants.at(-1)!.CODECS).toBe('avc1.64001f')
  })

  test('audio description is named, can be chosen by the system, and is not the default', () => {
    const audio = [
      makeAudioTrack(0, { purpose: 'audio_description', programme: 'stream 2' }),
      makeAudioTrack(1, { programme: 'stream 1' }),
    ]
    const made = examplePresentation({ ...plain, audio })
    const media = tagsOf(multivariantPlaylist(made), 'EXT-X-MEDIA').filter((one) => one.get('TYPE') === 'AUDIO')
    expect(
      media.map((one) => ['NAME', 'DEFAULT', 'AUTOSELECT', 'CHARACTERISTICS'].map((name) => one.get(name))),
    ).toEqual([
      ['English', 'YES', 'YES', undefined],
      ['English (audio description)', 'NO', 'YES', 'public.accessibility.describes-video'],
    ])
    expect(hlsRuleViolations(playlists(made))).toEqual([])
  })

  test('groups encodings of one audio track by quality, and puts each into a group', () => {
    const audio = [
      makeAudioTrack(0, { bitrateKbps: 128 }),
      makeAudioTrack(1, { bitrateKbps: 64 }),
      makeAudioTrack(2, { bitrateKbps: 256, language: 'fre' }),
    ]
    const media = tagsOf(multivariantPlaylist(examplePresentation({ ...plain, audio })), 'EXT-X-MEDIA').filter(
      (one) => one.get('TYPE') === 'AUDIO',
    )
    expect(
      media.map((one) => [
        one.get('GROUP-ID'),
        one.get('NAME'),
        one.get('LANGUAGE'),
        one.get('URI'),
        one.get('DEFAULT'),
      ]),
    ).toEqual([
      ['aac_0', 'English', 'en', 'audio_0/playlist.m3u8', 'YES'],
      ['aac_0', 'French', 'fr', 'audio_2/playlist.m3u8', 'NO'],
      ['aac_1', 'English', 'en', 'audio_1/playlist.m3u8', 'YES'],
      ['aac_1', 'French', 'fr', 'audio_2/playlist.m3u8', 'NO'],
    ])
  })

  test('refuses what a quoted string cannot hold', () => {
    const text = examplePresentation().text.map((track) => ({ ...track, name: 'CC1",URI="x' }))
    expect(() => multivariantPlaylist(examplePresentation({ text }))).toThrow('quoted string')
  })

  test('says NONE for no captions, and names channels and services that were seen', () => {
    const none = examplePresentation({ ...plain, video: [makeVideoTrack({ captionChannels: [] })], hasCaptions: false })
    expect(multivariantPlaylist(none)).toContain('CLOSED-CAPTIONS=NONE')
    const channels = tagsOf(multivariantPlaylist(examplePresentation()), 'EXT-X-MEDIA').map((one) =>
      one.get('INSTREAM-ID'),
    )
    expect(channels.filter((id) => id !== undefined)).toEqual(['CC1', 'SERVICE1'])
  })
})

describe('media playlists', () => {
  test.each([
    [90_000, 3003, 40_000],
    [30_000, 1001, 100_000],
    [48_000, 96_256, 10_000],
  ])('do not drift from %i ticks a second: %i each, %i times', (timescale, duration, count) => {
    const list = Array.from({ length: count }, (_, at) => ({ start: at * duration, duration, bytes: 1 }))
    const sum = segmentDurations({ timescale, segments: list }).reduce((total, one) => total + one, 0)
    expect(sum).toBe(Math.round((count * duration * 1_000_000) / timescale))
  })

  test('mark an ad break at its start, while it lasts and at its end', () => {
    const made = examplePresentation({
      cues: [makeCueEvent({ duration: 8 }), makeCueEvent({ id: 'in', kind: 'in', start: 18 })],
    })
    const names = readTags(mediaPlaylist(made.video[0]!, made))
      .filter(({ name }) => name.startsWith('EXT-X-CUE') || name === 'uri')
      .map(({ name, value }) => (name === 'uri' ? value.slice(-9) : `${name}:${value}`))
    expect(names).toEqual([
      '00001.m4s',
      '00002.m4s',
      'EXT-X-CUE-OUT:8.000000',
      '00003.m4s',
      'EXT-X-CUE-OUT-CONT:ElapsedTime=2.000000,Duration=8.000000',
      '00004.m4s',
      'EXT-X-CUE-IN:',
      '00005.m4s',
    ])
    const [range, ...more] = tagsOf(mediaPlaylist(made.video[0]!, made), 'EXT-X-DATERANGE')
    expect(more).toEqual([])
    expect(Object.fromEntries(range!)).toMatchObject({
      'START-DATE': '1970-01-01T00:00:10.000Z',
      DURATION: '8.000000',
      'PLANNED-DURATION': '8.000000',
      'SCTE35-OUT': '0xFC301100000000000000FFF0000000007A4FBFFF',
      'SCTE35-IN': '0xFC301100000000000000FFF0000000007A4FBFFF',
    })
  })

  test('end one break and begin the next at one segment', () => {
    const cues = [
      makeCueEvent({ id: 'a', eventId: 1, start: 6, duration: 4 }),
      makeCueEvent({ id: 'b', eventId: 1, start: 10, kind: 'in' }),
      makeCueEvent({ id: 'c', eventId: 2, start: 10, duration: 2 }),
      makeCueEvent({ id: 'd', eventId: 2, start: 12, kind: 'in' }),
    ]
    const made = examplePresentation({ cues })
    expect(mediaPlaylist(made.video[0]!, made)).toMatch(/#EXT-X-CUE-IN\n#EXT-X-CUE-OUT:2\.000000\n#EXTINF/)
    expect(mediaPlaylist(made.audio[0]!, made)).toMatch(/#EXT-X-CUE-IN\n#EXT-X-CUE-OUT:2\.000000\n#EXTINF/)
    expect(hlsRuleViolations(playlists(made))).toEqual([])
  })

  test('find key frames by their bytes', () => {
    const made = examplePresentation()
    const text = iframePlaylist(made.video[0]!, made)
    expect(text).toContain('#EXT-X-I-FRAMES-ONLY\n#EXT-X-MAP:URI="job-1-2/init.mp4"\n')
    expect(text).toContain('#EXTINF:3.000000,\n#EXT-X-BYTERANGE:60000@300000\njob-1-2/00001.m4s\n')
  })

  test('lay out thumbnails for players that read image playlists', () => {
    const made = examplePresentation()
    expect(imagePlaylist(made.thumbnails!, made)).toContain(
      '#EXTINF:8.000000,\n#EXT-X-TILES:RESOLUTION=160x90,LAYOUT=2x2,DURATION=2.000000\njob-1-2/00001.jpg\n',
    )
    expect(multivariantPlaylist(made)).toMatch(
      /#EXT-X-IMAGE-STREAM-INF:BANDWIDTH=\d+,RESOLUTION=160x90,CODECS="jpeg",URI="thumbnails\/images\.m3u8"/,
    )
  })
})

test('a peak is of segments that last together between half and one and a half targets', () => {
  const track = {
    timescale: 1,
    segments: [
      [6, 600],
      [6, 1200],
      [1, 900],
      [5, 100],
    ].map(([duration, bytes], at) => ({ start: [0, 6, 12, 13][at]!, duration: duration!, bytes: bytes! })),
  }
  // 6 s and 1 s: 2100 bytes in 7 s. The second alone holds 900 bytes, but is too short to count.
  expect(peakRate(track)).toBe(Math.ceil((2100 * 8) / 7))
  expect(averageRate(track)).toBe(Math.ceil((2800 * 8) / 18))
})
