// In charge of: parsing playlists, rule by rule of RFC 8216, and the error code of each refusal.
import { describe, expect, test } from 'vitest'
import type { MediaPlaylist, MultivariantPlaylist } from '../../../../worker/taskApi/hlsSource/hlsPlaylist.ts'
import { MAX_SEGMENTS, readPlaylist } from '../../../../worker/taskApi/hlsSource/hlsPlaylist.ts'
import type { PlaylistError } from '../../../../worker/taskApi/hlsSource/playlistError.ts'

const END = '#EXT-X-ENDLIST'
const text = (...lines: string[]): string => ['#EXTM3U', ...lines].join('\n')
const media = (...lines: string[]): MediaPlaylist => readPlaylist(text(...lines, END)) as MediaPlaylist
const segments = (...lines: string[]) => media(...lines).segments

function refusal(whole: string): string {
  try {
    readPlaylist(whole)
    return 'no error'
  } catch (error) {
    return (error as PlaylistError).code
  }
}

test('attribute lists without an equals sign, or without an end, are read once', () => {
  const lines = Array.from(
    { length: 400 },
    (_, at) => `#EXT-X-MEDIA:${at % 2 === 0 ? 'A'.repeat(16_000) : 'A,'.repeat(8000)}`,
  )
  const whole = text(...lines, '#EXT-X-STREAM-INF:BANDWIDTH=1, CODECS="avc1,mp4a"', 'x')
  expect(readPlaylist(whole)).toMatchObject({ kind: 'multivariant' })
})

describe('a media playlist', () => {
  test('has its segments in order with durations; unknown tags are ignored', () => {
    const found = media(
      '#EXT-X-TARGETDURATION:6',
      '#EXTINF:5.96,Title, with comma',
      'a.ts',
      '#EXT-X-NEW:1',
      '',
      '#EXTINF:3,',
      'b.ts?x=1',
    )
    expect(found).toMatchObject({ kind: 'media', ended: true, targetSeconds: 6 })
    expect(found.segments.map(({ uri, seconds }) => [uri, seconds])).toEqual([
      ['a.ts', 5.96],
      ['b.ts?x=1', 3],
    ])
  })

  test('may begin with a byte order mark and end its lines with CRLF', () => {
    const found = readPlaylist(`\uFEFF#EXTM3U\r\n#EXTINF:1,\r\na.ts\r\n${END}\r\n`)
    expect(found).toMatchObject({ segments: [{ uri: 'a.ts', seconds: 1 }] })
  })

  test('4.3.2.2: a byte range without an offset follows the one before it, of the same address', () => {
    const found = segments('#EXTINF:1,', '#EXT-X-BYTERANGE:100@50', 'a.ts', '#EXTINF:1,', '#EXT-X-BYTERANGE:10', 'a.ts')
    expect(found.map(({ range }) => range)).toEqual([
      { offset: 50, length: 100 },
      { offset: 150, length: 10 },
    ])
    expect(refusal(text('#EXTINF:1,', '#EXT-X-BYTERANGE:10', 'a.ts', END))).toBe('source_damaged')
    const other = text('#EXTINF:1,', '#EXT-X-BYTERANGE:9@0', 'a.ts', '#EXTINF:1,', '#EXT-X-BYTERANGE:9', 'b.ts', END)
    expect(refusal(other)).toBe('source_damaged')
  })

  test('5.2: without an IV it is the media sequence number', () => {
    const key = '#EXT-X-KEY:METHOD=AES-128,URI="k?a=1,b=2"'
    const found = segments(
      '#EXT-X-MEDIA-SEQUENCE:254',
      key,
      '#EXTINF:1,',
      'a.ts',
      '#EXTINF:1,',
      'b.ts',
      '#EXTINF:1,',
      'c.ts',
    )
    expect(found.map((segment) => segment.key)).toEqual([
      { uri: 'k?a=1,b=2', iv: 'fe'.padStart(32, '0') },
      { uri: 'k?a=1,b=2', iv: 'ff'.padStart(32, '0') },
      { uri: 'k?a=1,b=2', iv: '100'.padStart(32, '0') },
    ])
  })

  test('4.3.2.4: a key holds until the next one; NONE ends it; a given IV stays the same', () => {
    const given = '#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x0A,KEYFORMAT="identity"'
    const found = segments(
      '#EXTINF:1,',
      'a',
      given,
      '#EXTINF:1,',
      'b',
      '#EXTINF:1,',
      'c',
      '#EXT-X-KEY:METHOD=NONE',
      '#EXTINF:1,',
      'd',
    )
    expect(found.map((segment) => segment.key?.iv ?? null)).toEqual([
      null,
      'a'.padStart(32, '0'),
      'a'.padStart(32, '0'),
      null,
    ])
  })

  test('4.3.2.5: an initialisation section holds until the next one, is encrypted by the key before it, and may be a range', () => {
    const found = segments(
      '#EXT-X-MAP:URI="i.mp4",BYTERANGE="700@0"',
      '#EXTINF:1,',
      'a.m4s',
      '#EXT-X-DISCONTINUITY',
      '#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x1',
      '#EXT-X-MAP:URI="j.mp4"',
      '#EXTINF:1,',
      'b.m4s',
    )
    expect(found[0]).toMatchObject({
      discontinuity: false,
      map: { uri: 'i.mp4', range: { offset: 0, length: 700 }, key: null },
    })
    expect(found[1]).toMatchObject({ discontinuity: true, map: { uri: 'j.mp4', range: null, key: { uri: 'k' } } })
  })

  test('an EVENT playlist is accepted once it has ended, and recognized as growing before', () => {
    const lines = ['#EXT-X-PLAYLIST-TYPE:EVENT', '#EXTINF:1,', 'a.ts']
    expect(readPlaylist(text(...lines))).toMatchObject({ ended: false })
    expect(readPlaylist(text(...lines, END))).toMatchObject({ ended: true })
    expect(readPlaylist(text('#EXT-X-PLAYLIST-TYPE:EVENT'))).toMatchObject({ ended: false, segments: [] })
  })

  const refused: [string, string, string[]][] = [
    ['live', 'source_unsupported', ['#EXTINF:1,', 'a.ts']],
    ['SAMPLE-AES', 'source_unsupported', ['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"', '#EXTINF:1,', 'a', END]],
    ['SAMPLE-AES-CTR', 'source_unsupported', ['#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI="k"', '#EXTINF:1,', 'a', END]],
    [
      'DRM',
      'source_unsupported',
      ['#EXT-X-KEY:METHOD=AES-128,URI="skd://k",KEYFORMAT="com.apple.streamingkeydelivery"', '#EXTINF:1,', 'a', END],
    ],
    ['key frames only', 'source_unsupported', ['#EXT-X-I-FRAMES-ONLY', '#EXTINF:1,', 'a', END]],
    ['variables', 'source_unsupported', ['#EXT-X-DEFINE:NAME="a",VALUE="b"', '#EXTINF:1,', '{$a}', END]],
    ['a gap', 'source_damaged', ['#EXTINF:1,', '#EXT-X-GAP', 'a', END]],
    ['a key without address', 'source_damaged', ['#EXT-X-KEY:METHOD=AES-128', '#EXTINF:1,', 'a', END]],
    ['a wrong IV', 'source_damaged', ['#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0xzz', '#EXTINF:1,', 'a', END]],
    [
      'an encrypted map without IV',
      'source_damaged',
      ['#EXT-X-KEY:METHOD=AES-128,URI="k"', '#EXT-X-MAP:URI="i"', '#EXTINF:1,', 'a', END],
    ],
    ['no duration', 'source_damaged', ['a.ts', END]],
    ['a negative duration', 'source_damaged', ['#EXTINF:-1,', 'a.ts', END]],
    ['nothing', 'source_damaged', [END]],
    ['both kinds', 'source_damaged', ['#EXT-X-STREAM-INF:BANDWIDTH=1', 'v', '#EXTINF:1,', 'a', END]],
    [
      'a range beyond all numbers',
      'source_damaged',
      ['#EXT-X-BYTERANGE:999999999999999@999999999999999999', '#EXTINF:1,', 'a', END],
    ],
    [
      'too many segments',
      'source_too_large',
      [...Array.from({ length: MAX_SEGMENTS + 1 }, () => '#EXTINF:1,\na'), END],
    ],
    ['a line without end', 'source_damaged', [`#${'x'.repeat(20_000)}`, END]],
  ]
  test.each(refused)('is refused: %s: %s', (_title, code, lines) => {
    expect(refusal(text(...lines))).toBe(code)
  })

  test('what is no playlist at all is damaged', () => {
    expect(refusal('#EXTINF:1,\na.ts')).toBe('source_damaged')
    expect(refusal('')).toBe('source_damaged')
  })
})

describe('a multivariant playlist', () => {
  test('has variants with their audio group, and audio renditions with or without an address', () => {
    const found = readPlaylist(
      text(
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x, y",LANGUAGE="de",URI="de.m3u8"',
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="z"',
        '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="s",URI="s.m3u8"',
        '#EXT-X-STREAM-INF:BANDWIDTH=1000,AVERAGE-BANDWIDTH=9,CODECS="avc1.64001f,mp4a.40.2",AUDIO="a"',
        'v.m3u8',
        '#EXT-X-STREAM-INF:BANDWIDTH=2000,CODECS="mp4a.40.2"',
        'sound.m3u8',
        '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=99999,URI="i.m3u8"',
      ),
    ) as MultivariantPlaylist
    expect(found.variants).toEqual([
      { uri: 'v.m3u8', bandwidth: 1000, audio: 'a', hasVideo: true },
      { uri: 'sound.m3u8', bandwidth: 2000, audio: null, hasVideo: false },
    ])
    expect(found.audio).toEqual([
      { group: 'a', uri: 'de.m3u8', language: 'de' },
      { group: 'a', uri: null, language: null },
    ])
  })
})
