// In charge of: parts of a job's result that can be tested without a browser: the kinds of outputs, and the wording of
// measured facts.
import { describe, expect, test } from 'vitest'
import type { PublicOutput } from '#contract/api/status.ts'
import { downloadUrlOf, notDownloadable } from '../../../client/download/downloadFile.ts'
import { sharedMedia } from '#contract/api/sharedMedia.ts'
import { isOpen, isPlayable, kindOf, sortOutputs } from '../../../web/src/job/outputKinds.ts'
import { audioDetails, bitrate, heightName, sourceVideo, videoDetails } from '../../../web/src/text/mediaDetails.ts'
import { jobsFor } from '../../../web/src/jobs/bulkSelection.ts'
import { playableSources } from '../../../web/src/job/playable.ts'

const output = (path: string, role = 'media', part: Partial<PublicOutput> = {}): PublicOutput => ({
  path,
  url: `https://x.test/${path}`,
  location: path,
  size: 1,
  sha256: 'x',
  content_type: 'x',
  profile: null,
  role,
  media: null,
  ...part,
})

const SEGMENTS = { count: 3, bytes: 30 }

describe('which outputs are listed first', () => {
  const paths = (outputs: readonly PublicOutput[]) => {
    const { main, others } = sortOutputs(outputs)
    return [main, others].map((list) => list.map(({ path }) => path))
  }
  test('the presentations of segmented output; their playlists and images belong to them', () => {
    const playlist = output('video/playlist.m3u8', 'playlist', { segments: SEGMENTS })
    const all = [
      playlist,
      output('master.m3u8', 'playlist'),
      output('manifest.mpd', 'manifest'),
      output('thumbnails/1/poster.jpg', 'poster'),
      output('thumbnails/thumbnails.vtt', 'storyboard'),
      output('job.json', 'report'),
    ]
    expect(paths(all)).toEqual([
      ['master.m3u8', 'manifest.mpd'],
      ['video/playlist.m3u8', 'thumbnails/1/poster.jpg', 'thumbnails/thumbnails.vtt', 'job.json'],
    ])
  })
  test('files, in whatever directory they are', () => {
    expect(paths([output('out/a.mp4'), output('out/b.mp4'), output('out/a.jpg', 'poster')])).toEqual([
      ['out/a.mp4', 'out/b.mp4'],
      ['out/a.jpg'],
    ])
  })
  test('playlists, when no multivariant playlist lists them', () => {
    expect(paths([output('video/playlist.m3u8', 'playlist'), output('job.json', 'report')])).toEqual([
      ['video/playlist.m3u8'],
      ['job.json'],
    ])
  })
})

describe('outputs in other stores', () => {
  const own = output('a.mp4', 'media', { location: 'vendor-store://out/x/y/a.mp4' })
  const presigned = output('b.mp4', 'media', { location: 's3://films/b.mp4', url: 'https://films.test/b.mp4?X-Amz-…' })
  const closed = output('c.mp4', 'media', { location: 'oci://space/films/c.mp4', url: null })
  const onServer = output('d.mp4', 'media', { location: 'https://put.test/d.mp4', url: null })
  test('are opened where they have an address, and played where what they name is readable too', () => {
    const all = [own, presigned, closed, onServer]
    expect(all.map((each) => [isOpen(each), isPlayable(each)])).toEqual([
      [true, true],
      [true, false],
      [false, false],
      [false, false],
    ])
    expect(playableSources(all).map(({ label }) => label)).toEqual(['a.mp4'])
  })
  test('are downloaded from their address, or from where they are on the web; else it is said where they are', () => {
    expect([own, presigned, closed, onServer].map(downloadUrlOf)).toEqual([
      own.url,
      presigned.url,
      null,
      onServer.location,
    ])
    expect(notDownloadable(closed)).toContain('oci://space/films/c.mp4')
  })
  test('are on no share page without an address', () => {
    const terms = { title: '', expires_at: '', addresses_expire_at: '' }
    const status = { outputs: [own, closed], poster: null } as unknown as Parameters<typeof sharedMedia>[0]
    expect(sharedMedia(status, terms).downloads.map(({ name }) => name)).toEqual(['a.mp4'])
  })
})

test.for([
  ['master.m3u8', 'playlist', 'HLS'],
  ['manifest.mpd', 'manifest', 'DASH'],
  ['tar.mpd', 'manifest', 'DASH (byte ranges)'],
  ['video/playlist.m3u8', 'playlist', 'HLS playlist'],
  ['film.mp4', 'media', 'MP4'],
  ['film.ts', 'media', 'MPEG-TS'],
  ['x/poster.jpg', 'poster', 'Poster'],
  ['x/thumbnails.vtt', 'storyboard', 'Storyboard'],
  ['captions/CC1.vtt', 'captions', 'Captions'],
  ['job.json', 'report', 'Report'],
  ['film.odd', 'media', 'File'],
] as const)('%s (%s) is called "%s"', ([path, role, kind]) => {
  expect(kindOf(output(path, role))).toBe(kind)
})

/** A number and its unit are joined by a non-breaking space. */
const spaced = (text: string): string => text.replaceAll('\u{a0}', ' ')

test.for([
  [96.4, '96 kbit/s'],
  [999.4, '999 kbit/s'],
  [1000, '1 Mbit/s'],
  [2388, '2.39 Mbit/s'],
  [15_840, '15.8 Mbit/s'],
] as const)('%d kbps are "%s"', ([kbps, text]) => {
  expect(spaced(bitrate(kbps))).toBe(text)
})

describe('measured facts', () => {
  const video = {
    codec: 'h264',
    codec_string: null,
    width: 1080,
    height: 1920,
    display_aspect_ratio: '9:16',
    frame_rate: '30000/1001',
    frames_per_second: 29.97,
    scan: 'interlaced',
    dynamic_range: 'hlg',
    bitrate_kbps: 1,
  } as const
  test('are said in the terms of the field', () => {
    expect(videoDetails(video)).toBe('H.264 · 29.97 fps · interlaced · HLG')
    expect(heightName(video)).toBe('1080i')
    expect(
      spaced(audioDetails({ codec: 'ac3', channels: 6, sample_rate: 48_000, bitrate_kbps: 384, language: 'eng' })),
    ).toBe('Dolby Digital 5.1, 48 kHz, 384 kbit/s, English')
  })
  test('a source that is stored on its side is shown upright', () => {
    const source = {
      codec: 'hevc',
      width: 1920,
      height: 1080,
      rotation: -90,
      frame_rate: '30/1',
      variable_frame_rate: true,
      scan: 'progressive',
      hdr: true,
    } as Parameters<typeof sourceVideo>[0]
    expect(sourceVideo(source)).toEqual(['1080 × 1920 · HEVC', '30 fps · variable · HDR', 'stored rotated by 90°'])
    expect(sourceVideo(source, true)[0]).toBe('1080 × 1920')
  })
})

test('of several jobs that are selected, each thing is done with those that it can be done with', () => {
  const job = (id: number, state: string, job_completed: boolean) =>
    ({ _auto_generated_id_: id, status: { state, job_completed } }) as Parameters<typeof jobsFor>[1][number]
  const jobs = [
    job(1, 'ready', false),
    job(2, 'running', false),
    job(3, 'ready', true),
    job(4, 'error', true),
    job(5, 'cancelled', true),
  ]
  const ids = (deed: Parameters<typeof jobsFor>[0]) => jobsFor(deed, jobs).map(({ _auto_generated_id_: id }) => id)
  expect([ids('cancel'), ids('retry'), ids('delete')]).toEqual([
    [1, 2],
    [4, 5],
    [3, 4, 5],
  ])
})
