// In charge of: the addresses in a presentation, and which hosts receive credentials.
import { describe, expect, test } from 'vitest'
import { openResource, openHlsPresentation, resolve } from '../../../../worker/taskApi/hlsSource/hlsPresentation.ts'
import type { FetchFunction } from '../../../../worker/storage/guardedFetch.ts'

const END = '#EXT-X-ENDLIST'
const access = { username: 'me', password: 'secret' }

function web(files: Record<string, string>) {
  const seen: { url: string; authorization: string | null }[] = []
  const transport: FetchFunction = async (url, init) => {
    seen.push({ url: String(url), authorization: new Headers(init?.headers).get('authorization') })
    const file = files[String(url).replace(/\?.*/, '')]
    return file === undefined ? new Response('no', { status: 404 }) : new Response(file)
  }
  return { seen, transport }
}

const files = {
  'https://a.example/x/m.m3u8': [
    '#EXTM3U',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="n",LANGUAGE="fr",URI="https://b.example/s.m3u8"',
    '#EXT-X-STREAM-INF:BANDWIDTH=5,RESOLUTION=1x1',
    'low.m3u8',
    '#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=1x1,AUDIO="g"',
    '/y/high.m3u8?sig=1',
    '#EXT-X-STREAM-INF:BANDWIDTH=99,CODECS="mp4a.40.2"',
    'sound.m3u8',
  ].join('\n'),
  'https://a.example/y/high.m3u8': [
    '#EXTM3U',
    '#EXT-X-KEY:METHOD=AES-128,URI="../k"',
    '#EXTINF:2,',
    '0.ts?t=1',
    END,
  ].join('\n'),
  'https://b.example/s.m3u8': [
    '#EXTM3U',
    '#EXT-X-MAP:URI="i.mp4"',
    '#EXTINF:2,',
    '0.m4s',
    '#EXTINF:2,',
    '1.m4s',
    END,
  ].join('\n'),
}

describe('a presentation', () => {
  test('is the highest variant with video and its audio group; addresses are relative to their own playlist', async () => {
    const { transport } = web(files)
    const { description, tracks, keys } = await openHlsPresentation(
      new URL('https://a.example/x/m.m3u8'),
      access,
      transport,
    )
    const addresses = (track: number, kind: 'segments' | 'maps') =>
      tracks[track]![kind].map(({ uri }) => String(resolve(uri, tracks[track]!.url)))
    expect(addresses(0, 'segments')).toEqual(['https://a.example/y/0.ts?t=1'])
    expect(addresses(1, 'maps')).toEqual(['https://b.example/i.mp4'])
    expect(keys).toEqual(['https://a.example/k'])
    expect(description).toMatchObject({ ended: true, tracks: [{ language: null }, { language: 'fr' }] })
    expect(description.tracks[1]!.segments.map(({ map }) => map)).toEqual([0, 0])
    // What the transcoder receives contains no address.
    expect(JSON.stringify(description)).not.toMatch(/example|\.ts|m4s|sig/)
  })

  test('sends credentials to the origin of its own address and to no other', async () => {
    const { seen, transport } = web(files)
    await openHlsPresentation(new URL('https://a.example/x/m.m3u8'), access, transport)
    expect(seen.map(({ url, authorization }) => [new URL(url).host, authorization !== null])).toEqual([
      ['a.example', true],
      ['a.example', true],
      ['b.example', false],
    ])
    seen.length = 0
    for (const url of ['https://a.example/1.ts', 'http://a.example/1.ts', 'https://b.example/1.ts']) {
      await openResource(new URL(url), new URL('https://a.example/x/m.m3u8'), access, transport)
        .read(null)
        .catch(() => undefined)
    }
    expect(seen.map(({ authorization }) => authorization !== null)).toEqual([true, false, false])
  })

  test('has one digest while only the queries of its addresses change', async () => {
    const digestOf = async (changed: Record<string, string>) =>
      (await openHlsPresentation(new URL('https://a.example/y/high.m3u8'), {}, web({ ...files, ...changed }).transport))
        .description.playlist_digest
    const high = files['https://a.example/y/high.m3u8']
    const playlistDigest = await digestOf({})
    expect(await digestOf({ 'https://a.example/y/high.m3u8': high.replace('t=1', 't=2') })).toBe(playlistDigest)
    expect(await digestOf({ 'https://a.example/y/high.m3u8': high.replace('0.ts', '1.ts') })).not.toBe(playlistDigest)
    expect(await digestOf({ 'https://a.example/y/high.m3u8': high.replace(':2,', ':3,') })).not.toBe(playlistDigest)
  })

  const refused: [string, string, Record<string, string>][] = [
    ['a playlist that is not there', 'not_found', { 'https://a.example/y/high.m3u8': undefined! }],
    [
      'a variant that is a multivariant playlist',
      'source_damaged',
      { 'https://a.example/y/high.m3u8': files['https://a.example/x/m.m3u8'] },
    ],
    [
      'a playlist of 9 MiB',
      'source_too_large',
      { 'https://a.example/y/high.m3u8': `#EXTM3U\n${'#x\n'.repeat(3_200_000)}` },
    ],
  ]
  test.each(refused)('%s: %s', async (_title, code, changed) => {
    const { transport } = web({ ...files, ...changed })
    await expect(openHlsPresentation(new URL('https://a.example/x/m.m3u8'), {}, transport)).rejects.toMatchObject({
      code,
    })
  })
})
