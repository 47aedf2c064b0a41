// In charge of: downloading the resources of an HLS source into one file: order, kinds, keys, cuts, and waiting for the
// end of an event playlist.
import { createCipheriv } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { HlsDescription, HlsSegment } from '#contract/task/protocol.ts'
import { waitForEndedPlaylist, downloadTracks } from '../../../../transcoder/source/hls/hlsDownload.ts'
import { decryptAes128, resourceKind, withoutId3Tag } from '../../../../transcoder/source/hls/mediaResource.ts'
import { tempDirectory } from '../../../support/media/media.ts'

const packet = (fill: number): Buffer => Buffer.concat([Buffer.from([0x47]), Buffer.alloc(187, fill)])
const segment = (change: Partial<HlsSegment> = {}): HlsSegment => ({
  seconds: 2,
  discontinuity: false,
  map: null,
  key: null,
  iv: null,
  ...change,
})
const described = (segments: HlsSegment[], ended = true): HlsDescription => ({
  playlist_digest: 'p',
  ended,
  target_seconds: 0.01,
  tracks: [
    {
      language: null,
      maps: [{ key: null, iv: null }],
      segments,
      integer_durations: segments.every(({ seconds }) => Number.isInteger(seconds)),
    },
  ],
})

/** A task API that serves these resources in chunks of 7 bytes. */
function doorOf(pieces: Record<string, Buffer>) {
  return {
    fetchHlsResource: <T>(piece: string, _signal: AbortSignal, take: (body: AsyncIterable<Uint8Array>) => Promise<T>) =>
      take(chunksOf(pieces[piece] ?? Buffer.alloc(0))),
  }
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
}

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

async function fetched(pieces: Record<string, Buffer>, segments: HlsSegment[]) {
  await using tempDir = await tempDirectory()
  const options = { directory: tempDir.path, signal: new AbortController().signal }
  const [track = []] = await downloadTracks(doorOf(pieces), described(segments), options)
  return await Promise.all(track.map(async ({ path, kind, ticks }) => ({ kind, ticks, bytes: await readFile(path) })))
}

describe('segments are joined', () => {
  test('in order, with a separate file from each discontinuity', async () => {
    const pieces = { 'p/0/segments/0': packet(1), 'p/0/segments/1': packet(2), 'p/0/segments/2': packet(3) }
    const found = await fetched(pieces, [segment(), segment(), segment({ discontinuity: true })])
    expect(found).toEqual([
      { kind: 'mpegts', ticks: null, bytes: Buffer.concat([packet(1), packet(2)]) },
      { kind: 'mpegts', ticks: null, bytes: packet(3) },
    ])
  })

  test('fragments after their initialisation section', async () => {
    const pieces = {
      'p/0/maps/0': Buffer.from('init'),
      'p/0/segments/0': Buffer.from('one'),
      'p/0/segments/1': Buffer.from('two'),
    }
    const found = await fetched(pieces, [segment({ map: 0 }), segment({ map: 0 })])
    expect(found).toEqual([{ kind: 'mp4', ticks: null, bytes: Buffer.from('initonetwo') }])
  })

  test('packed audio, whose first ID3 tag states the time, without the tags', async () => {
    const owner = Buffer.from('com.apple.streaming.transportStreamTimestamp\0', 'latin1')
    const ticks = Buffer.alloc(8)
    ticks.writeBigUInt64BE(900_000n)
    const body = Buffer.concat([Buffer.from('PRIV\0\0\0\x35\0\0', 'latin1'), owner, ticks])
    const tag = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0', 'latin1'), Buffer.from([body.length]), body])
    const frames = Buffer.concat([Buffer.from([0xff, 0xf1]), Buffer.alloc(300, 7)])
    const piece = Buffer.concat([tag, frames])
    const found = await fetched({ 'p/0/segments/0': piece, 'p/0/segments/1': piece }, [segment(), segment()])
    expect(found).toEqual([{ kind: 'audio', ticks: 900_000, bytes: Buffer.concat([frames, frames]) }])
    expect(await collected(withoutId3Tag(chunksOf(frames), () => undefined))).toEqual(frames)
  })

  test.each([
    ['a packet that is cut', { 'p/0/segments/0': packet(1).subarray(0, 187) }, 'source_incomplete'],
    ['nothing', { 'p/0/segments/0': Buffer.alloc(0) }, 'source_not_media'],
    ['a page', { 'p/0/segments/0': Buffer.from('<html>') }, 'source_not_media'],
    ['a further playlist', { 'p/0/segments/0': Buffer.from('#EXTM3U') }, 'source_not_media'],
    ['subtitles', { 'p/0/segments/0': Buffer.from('WEBVTT') }, 'source_not_media'],
    [
      'two kinds',
      { 'p/0/segments/0': packet(1), 'p/0/segments/1': Buffer.from('ID3\x04\0\0\0\0\0\0x') },
      'source_damaged',
    ],
  ])('%s: no file', async (_title, pieces: Record<string, Buffer>, code) => {
    const segments = Object.keys(pieces).map(() => segment())
    await expect(fetched(pieces, segments)).rejects.toMatchObject({ code })
  })
})

describe('AES-128', () => {
  const [key, iv] = [Buffer.alloc(16, 5), '00'.repeat(15) + '07']
  const encrypt = (bytes: Buffer): Buffer => {
    const cipher = createCipheriv('aes-128-cbc', key, Buffer.from(iv, 'hex'))
    return Buffer.concat([cipher.update(bytes), cipher.final()])
  }

  test.each([0, 1, 15, 16, 17, 1000])('%d bytes come back', async (length) => {
    const bytes = Buffer.alloc(length, 'film')
    expect(await collected(decryptAes128(chunksOf(encrypt(bytes)), key, iv))).toEqual(bytes)
  })

  test('a truncated segment and a wrong key are errors', async () => {
    const secret = encrypt(Buffer.alloc(1000, 'film'))
    for (const cut of [1, 16, 17, 500]) {
      const read = collected(decryptAes128(chunksOf(secret.subarray(0, secret.length - cut)), key, iv))
      await expect(read, `without ${cut}`).rejects.toMatchObject({ code: 'source_damaged' })
    }
    await expect(collected(decryptAes128(chunksOf(secret), Buffer.alloc(16, 6), iv))).rejects.toMatchObject({
      code: 'source_damaged',
    })
  })

  test('a key is fetched once, and one of another length is refused', async () => {
    const pieces = { 'p/keys/0': key, 'p/0/segments/0': encrypt(packet(1)), 'p/0/segments/1': encrypt(packet(2)) }
    const found = await fetched(pieces, [segment({ key: 0, iv }), segment({ key: 0, iv })])
    expect(found[0]!.bytes).toEqual(Buffer.concat([packet(1), packet(2)]))
    const short = { ...pieces, 'p/keys/0': Buffer.alloc(15) }
    await expect(fetched(short, [segment({ key: 0, iv })])).rejects.toMatchObject({ code: 'source_damaged' })
  })
})

describe('an event that still runs', () => {
  const options = { directory: '/nowhere', signal: new AbortController().signal, eventIdleMs: 100 }

  test('is waited for while segments are added', async () => {
    let asked = 0
    const hls = async () =>
      described(
        Array.from({ length: ++asked }, () => segment()),
        asked === 3,
      )
    expect((await waitForEndedPlaylist({ fetchHls: hls }, options)).tracks[0]!.segments).toHaveLength(3)
    expect(asked).toBe(3)
  })

  test('is given up when nothing comes any more', async () => {
    const hls = async () => described([segment()], false)
    await expect(waitForEndedPlaylist({ fetchHls: hls }, options)).rejects.toMatchObject({ code: 'source_incomplete' })
  })

  test('is given up after a while, though segments are added', async () => {
    let asked = 0
    const hls = async () =>
      described(
        Array.from({ length: ++asked }, () => segment()),
        false,
      )
    const waiting = waitForEndedPlaylist({ fetchHls: hls }, { ...options, eventWaitMs: 100 })
    await expect(waiting).rejects.toThrow('Send the job again when its playlist has EXT-X-ENDLIST')
  })
})

test('the kind of a segment is detected from its bytes', () => {
  const two = Buffer.concat([packet(0), packet(0)])
  expect(resourceKind(two, false)).toBe('mpegts')
  expect(resourceKind(Buffer.concat([packet(0), Buffer.alloc(9)]), false)).toBeNull()
  expect(resourceKind(Buffer.from([0x0b, 0x77]), false)).toBe('audio')
  expect(resourceKind(Buffer.from('\0\0\0\x18styp', 'latin1'), false)).toBeNull()
  expect(resourceKind(Buffer.from('\0\0\0\x18styp', 'latin1'), true)).toBe('mp4')
})
