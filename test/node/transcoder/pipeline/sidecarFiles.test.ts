// Whole attempts with caption files: everything that manifests name exists and matches the source.
import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test, type TestContext } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import { sharedClip } from '../../../support/media/media.ts'
import { FakeTaskApi, sha256 } from '../../../support/transcoder/fakeTaskApi.ts'
import { storedObjects, joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
let taskApi: FakeTaskApi | null = null

afterEach(async () => {
  await taskApi?.stop()
  taskApi = null
})

async function finish(changes: Parameters<typeof segmentedTask>[0], bytes: Buffer): Promise<Map<string, Buffer>> {
  taskApi = await new FakeTaskApi({ bytes }).start()
  taskApi.task = segmentedTask({ ...changes, audioProfiles: [] })
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  expect(await fixtures.workDirEntries()).toEqual([])
  return storedObjects(taskApi)
}

const TS = { output_container: 'ts', segmented_output_hls: true } as const
const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const real = async (context: TestContext) => readFile(sharedClip(context, 'multi-channel-608-captions.ts'))

describe('captions', () => {
  test.for([
    ['ts', TS, 900_000],
    ['cmaf', CMAF, 0],
  ] as const)(
    '%s: each channel with a playlist, along the segments of the video and on their clock',
    async ([form, container, origin], context) => {
      const objects = await finish({ ...container, closed_captions: true }, await real(context))
      const master = objects.get('out/master.m3u8')!.toString()
      const listed = [...master.matchAll(/#EXT-X-MEDIA:TYPE=SUBTITLES.*NAME="(\w+)".*URI="([^"]+)"/g)]
      expect(listed.map(([, name]) => name)).toEqual(['CC1', 'CC3'])
      expect(master).toMatch(/#EXT-X-STREAM-INF:.*SUBTITLES="/)
      for (const [, name, uri] of listed) {
        const lengths = (text: string) =>
          [...text.matchAll(/#EXTINF:([\d.]+)/g)].map(([, length]) => Number(length).toFixed(2))
        const playlist = objects.get(`out/${uri}`)!.toString()
        expect(lengths(playlist)).toEqual(lengths(objects.get('out/video_0/playlist.m3u8')!.toString()))
        const text = joinedSegments(objects, `out/${uri}`).toString()
        expect(text.match(/^WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:(\d+),LOCAL:00:00:00.000\n/gm)).toHaveLength(
          lengths(playlist).length,
        )
        expect(new Set([...text.matchAll(/MPEGTS:(\d+)/g)].map(([, ticks]) => Number(ticks)))).toEqual(
          new Set([origin]),
        )
        expect(text).toContain(name === 'CC1' ? "WE'RE LOSING TIME FROM QUESTION" : 'très courte, chers députés.')
      }
      // In the segment in which it starts and in the one in which it continues.
      expect(
        joinedSegments(objects, 'out/captions/CC1/playlist.m3u8')
          .toString()
          .match(/00:00:00.90\d -->/g),
      ).toHaveLength(2)
      const whole = objects.get('out/captions/CC1/j-1-1/captions.vtt')!.toString()
      expect(whole).toMatch(/^WEBVTT\n\n00:00:00.90\d --> 00:00:03.50\d .*\nPERIOD, FOLKS.\n/)
      if (form === 'cmaf')
        expect(objects.get('out/manifest.mpd')!.toString()).toContain('captions/CC1/j-1-1/captions.vtt')
      const report = JSON.parse(objects.get('out/job.json')!.toString()) as {
        objects: { path: string; role: string; sha256: string }[]
      }
      const reported = report.objects.filter(({ role }) => role === 'captions')
      expect(reported.map(({ path }) => path).toSorted()).toEqual(
        [...objects.keys()].filter((path) => path.endsWith('.vtt')).toSorted(),
      )
      for (const { path, sha256: hash } of reported) expect(hash).toBe(sha256(objects.get(path)!))
    },
  )

  test('in the tar as well, and its playlists find them there', async (context) => {
    const objects = await finish({ ...CMAF, closed_captions: true, create_tar_file: true }, await real(context))
    const inTar = [...objects.keys()].find((path) => path.startsWith('out/tar_captions_CC1'))!
    expect(joinedSegments(objects, inTar).equals(joinedSegments(objects, 'out/captions/CC1/playlist.m3u8'))).toBe(true)
  })

  test.for([
    ['absent', {}],
    ['false', { closed_captions: false }],
  ] as const)('closed_captions %s: no files', async ([_title, captions], context) => {
    const objects = await finish({ ...TS, ...captions }, await real(context))
    expect([...objects.keys()].filter((path) => path.includes('captions'))).toEqual([])
    expect(objects.get('out/master.m3u8')!.toString()).not.toContain('SUBTITLES')
  })
})

describe('thumbnails', () => {
  test.for([
    ['HLS and DASH, with captions', { ...CMAF, closed_captions: true }],
    ['transport streams', TS],
    ['Smooth Streaming', { output_container: 'silverlight' }],
  ] as const)('%s', async ([_title, changes], context) => {
    const objects = await finish({ ...changes, thumbnails: true }, await real(context))
    const isJpeg = (path: string) =>
      objects
        .get(path)
        ?.subarray(0, 3)
        .equals(Buffer.from([0xff, 0xd8, 0xff]))
    const track = objects.get('out/thumbnails/thumbnails.vtt')!.toString()
    const named = [...track.matchAll(/^(\S+)#xywh=\d+,\d+,(\d+),(\d+)$/gm)]
    // 6.04 s in segments of 2.002 s.
    expect(named).toHaveLength(4)
    for (const [, uri, width] of named) {
      expect(isJpeg(`out/thumbnails/${uri}`)).toBe(true)
      expect(Number(width)).toBe(160)
    }
    expect(isJpeg('out/thumbnails/poster.jpg')).toBe(true)
    const report = JSON.parse(objects.get('out/job.json')!.toString()) as {
      objects: { path: string; sha256: string }[]
    }
    const reported = report.objects.filter(({ path }) => path.endsWith('.jpg'))
    expect(reported.map(({ path }) => path).toSorted()).toEqual(
      [...objects.keys()].filter((path) => path.endsWith('.jpg')).toSorted(),
    )
    for (const { path, sha256: hash } of reported) expect(hash).toBe(sha256(objects.get(path)!))
    if ('segmented_output_hls' in changes) {
      const images = /#EXT-X-IMAGE-STREAM-INF:.*URI="([^"]+)"/.exec(objects.get('out/master.m3u8')!.toString())![1]!
      expect(joinedSegments(objects, `out/${images}`).equals(objects.get('out/thumbnails/j-1-1/00001.jpg')!)).toBe(true)
    }
    if ('segmented_output_dash' in changes)
      expect(objects.get('out/manifest.mpd')!.toString()).toContain('contentType="image"')
  })

  test('in the tar as well', async (context) => {
    const objects = await finish({ ...CMAF, thumbnails: true, create_tar_file: true }, await real(context))
    const tar = objects.get('out/out.tar')!
    for (const name of ['j-1-1/00001.jpg', 'poster.jpg', 'thumbnails.vtt'])
      expect(tar.includes(`thumbnails/${name}`)).toBe(true)
  })
})
