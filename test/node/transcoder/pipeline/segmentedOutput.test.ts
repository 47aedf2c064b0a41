// In charge of: whole attempts with segmented output against the strict task API: what is stored is listed, decodes,
// and is complete.
// Not in charge of: single cutters (../segmenter), the text of manifests (../manifests), the Worker's commit.
import { execFile } from 'node:child_process'
import type { ServerResponse } from 'node:http'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import { FakeTaskApi, sendJson, sha256 } from '../../../support/transcoder/fakeTaskApi.ts'
import { listSegments } from '../../../support/manifests/playlistSegments.ts'
import {
  storedObjects,
  joinedSegments,
  countFrames,
  segmentedTask,
  countAudioSamples,
} from '../../../support/transcoder/segmentedTask.ts'
import { makeSourceClip, findFfmpegProcesses, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'
import { ffmpeg } from '../../../support/media/media.ts'

const fixtures = await useAttemptFixture()
let clip: Buffer
const taskApi = useTaskApi(() => clip)

beforeAll(async () => {
  clip = await makeSourceClip(fixtures, 5)
})

async function finish(): Promise<Map<string, Buffer>> {
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  expect(await fixtures.workDirEntries()).toEqual([])
  return storedObjects(taskApi)
}

async function file(name: string, bytes: Buffer): Promise<string> {
  const directory = await mkdtemp(join(fixtures.directory, 'file-'))
  await writeFile(join(directory, name), bytes)
  return join(directory, name)
}

const TS = { output_container: 'ts', segmented_output_hls: true } as const
const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const

describe('what arrives', () => {
  test('HLS of transport streams with multiplexed audio', async () => {
    taskApi.task = segmentedTask(TS)
    const objects = await finish()
    expect([...objects.keys()].toSorted()).toEqual([
      'out/job.json',
      'out/master.m3u8',
      'out/video_0/iframes.m3u8',
      'out/video_0/j-1-1/00001.ts',
      'out/video_0/j-1-1/00002.ts',
      'out/video_0/j-1-1/00003.ts',
      'out/video_0/playlist.m3u8',
    ])
    const whole = await file('whole.ts', joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    expect(await countFrames(fixtures.engine, whole)).toBe(125)
    expect(await countAudioSamples(fixtures.engine, whole)).toBeCloseTo(5, 0)
  })

  test('HLS and DASH from one set, two rungs, all cut at the same moments', async () => {
    taskApi.task = segmentedTask(CMAF, [300, 150])
    const objects = await finish()
    for (const id of ['video_0', 'video_1']) {
      expect(listSegments(objects.get(`out/${id}/playlist.m3u8`)!.toString())).toHaveLength(4)
      expect(
        await countFrames(fixtures.engine, await file('v.mp4', joinedSegments(objects, `out/${id}/playlist.m3u8`))),
      ).toBe(125)
    }
    expect(
      await countAudioSamples(
        fixtures.engine,
        await file('a.mp4', joinedSegments(objects, 'out/audio_0/playlist.m3u8')),
      ),
    ).toBeCloseTo(5, 1)
    expect(objects.get('out/manifest.mpd')!.toString()).toContain('<MPD')
    const report = JSON.parse(objects.get('out/job.json')!.toString()) as {
      objects: { path: string; size: number; sha256: string }[]
    }
    // Everything except the report itself.
    expect(report.objects.map(({ path }) => path).toSorted()).toEqual(
      [...objects.keys()].filter((path) => path !== 'out/job.json').toSorted(),
    )
    for (const { path, size, sha256: hash } of report.objects)
      expect([size, hash]).toEqual([objects.get(path)!.length, sha256(objects.get(path)!)])
  })

  test('Smooth: every fragment that the manifest makes an address of', async () => {
    taskApi.task = segmentedTask({ output_container: 'silverlight' }, [300, 300])
    // 63 frames instead of 125: its last chunk ends 40 ms later.
    taskApi.task.config.videoProfiles[1]!.video_framerate = '1/2x'
    const objects = await finish()
    const manifest = objects.get('out/out.ism/Manifest')!.toString()
    const addresses = [...manifest.matchAll(/<StreamIndex ([^>]*)>(.*?)<\/StreamIndex>/gs)].flatMap(
      ([, head, inner]) => {
        const url = /Url="([^"]*)"/.exec(head!)![1]!
        const times = [...inner!.matchAll(/<c [^>]*t="(\d+)"/g)].map(([, time]) => time!)
        return [...inner!.matchAll(/ Bitrate="(\d+)"/g)].flatMap(([, rate]) =>
          times.map((time) => `out/out.ism/${url.replace('{bitrate}', rate!).replace('{start time}', time)}`),
        )
      },
    )
    expect(addresses).toHaveLength(9)
    expect([...taskApi.outputs.keys()].toSorted()).toEqual(addresses.toSorted())
  })

  test('a tar with the same bytes and order in every attempt, and playlists over it', async () => {
    taskApi.task = segmentedTask({ ...CMAF, create_tar_file: true })
    // Parts that are smaller than the tar.
    taskApi.partSize = 100_000
    const objects = await finish()
    const tar = objects.get('out/out.tar')!
    expect(taskApi.finished!.objects.find(({ role }) => role === 'tar')!.parts.length).toBeGreaterThan(2)
    const directory = await mkdtemp(join(fixtures.directory, 'tar-'))
    await writeFile(join(directory, 'out.tar'), tar)
    const { stdout, stderr } = await promisify(execFile)('tar', ['-xvf', 'out.tar'], { cwd: directory })
    expect(stderr).toBe('')
    const names = stdout.trim().split('\n')
    const expected = [...objects.keys()]
      .map((path) => path.slice(4))
      .filter((path) => !/^(tar|out\.tar|job\.json)/.test(path))
    expect(names.toSorted()).toEqual(expected.toSorted())
    // By segment, then by rendition; manifests last.
    expect(names.slice(0, 6)).toEqual([
      'video_0/j-1-1/init.mp4',
      'video_0/j-1-1/00001.m4s',
      'audio_0/j-1-1/init.mp4',
      'audio_0/j-1-1/00001.m4s',
      'video_0/j-1-1/00002.m4s',
      'audio_0/j-1-1/00002.m4s',
    ])
    expect(
      joinedSegments(objects, 'out/tar_video_0.m3u8').equals(joinedSegments(objects, 'out/video_0/playlist.m3u8')),
    ).toBe(true)
    expect(objects.has('out/tar.m3u8') && objects.has('out/tar.mpd')).toBe(true)

    // In the same order when transfers finish in another order.
    const again = await new FakeTaskApi({ bytes: clip }).start()
    again.task = taskApi.task
    again.faults.output = ({ response, n }) => {
      if (n % 3 === 0) return false
      sendJson(response, 503, { error: { code: 'unavailable', message: 'later' } })
      return true
    }
    await runTask(runRequest(again), fixtures.context())
    await writeFile(join(directory, 'again.tar'), storedObjects(again).get('out/out.tar')!)
    const list = await promisify(execFile)('tar', ['-tf', 'again.tar'], { cwd: directory })
    expect(list.stdout.trim().split('\n')).toEqual(names)
    await again.stop()
  })

  test('audio files come from the same run', async () => {
    taskApi.task = segmentedTask({ ...CMAF, audio_output_path: 'sound' })
    const objects = await finish()
    expect(
      await countAudioSamples(fixtures.engine, await file('a.m4a', objects.get('sound/clip_audio_0.m4a')!)),
    ).toBeCloseTo(5, 1)
  })

  test('HLS and DASH sets from one encode have identical frames', async () => {
    taskApi.task = segmentedTask({ ...TS, segmented_output_dash: true })
    const objects = await finish()
    const ts = joinedSegments(objects, 'out/video_0/playlist.m3u8')
    const names = [...objects.keys()].filter((path) => /video_0.*(init\.mp4|m4s)$/.test(path))
    const cmaf = Buffer.concat(
      [
        names.find((path) => path.endsWith('init.mp4'))!,
        ...names.filter((path) => path.endsWith('.m4s')).toSorted(),
      ].map((path) => objects.get(path)!),
    )
    const md5 = async (path: string): Promise<string> =>
      (await promisify(execFile)(fixtures.engine.ffmpeg, ['-v', 'error', '-i', path, '-map', '0:v', '-f', 'md5', '-']))
        .stdout
    expect(await md5(await file('a.ts', ts))).toBe(await md5(await file('a.mp4', cmaf)))
  })
})

describe('a store that is slower than the encoder', () => {
  test('holds the encoder back after a few segments, and none is missing in the end', async () => {
    taskApi.source = { bytes: await makeSourceClip(fixtures, 30, 'ts') }
    taskApi.task = segmentedTask({ ...CMAF, create_tar_file: true }, [300, 150])
    let held = 0
    taskApi.faults.output = async () => {
      if (held > 0) return false
      // Nothing is accepted before the encoder pauses: the number of bytes is the same in consecutive heartbeats.
      await taskApi.waitFor(() => still(taskApi.beats.slice(-3).map(({ bytes_produced: bytes }) => bytes)))
      held = taskApi.beats.at(-1)!.bytes_produced
      return false
    }
    const objects = await finish()
    expect(held).toBeLessThan(taskApi.finished!.progress.bytes_produced / 2)
    for (const id of ['video_0', 'video_1'])
      expect(listSegments(objects.get(`out/${id}/playlist.m3u8`)!.toString())).toHaveLength(16)
    expect(joinedSegments(objects, 'out/tar_video_1.m3u8').length).toBeGreaterThan(1e5)
  })
})

/** Three equal values of an encode that has started. */
const still = (bytes: readonly number[]): boolean =>
  bytes.length === 3 && bytes[0]! > 0 && bytes.every((value) => value === bytes[0])

/** A transport stream that many times in succession, on one clock. */
async function repeated(bytes: Buffer, times: number): Promise<Buffer> {
  const once = await file('once.ts', bytes)
  return ffmpeg(['-stream_loop', `${times - 1}`, '-i', once, '-map', '0', '-c', 'copy', '-f', 'mpegts', '-'])
}

describe('what goes wrong', () => {
  test('segments that were refused for a while are sent again', async () => {
    taskApi.task = segmentedTask(CMAF)
    taskApi.faults.output = ({ response, n }) => {
      if (n % 2 === 0) return false
      sendJson(response, 503, { error: { code: 'unavailable', message: 'later' } })
      return true
    }
    const objects = await finish()
    expect(
      await countFrames(fixtures.engine, await file('v.mp4', joinedSegments(objects, 'out/video_0/playlist.m3u8'))),
    ).toBe(125)
  })

  test('a store that refuses for good ends the attempt, with nothing listed', async () => {
    taskApi.task = segmentedTask(CMAF)
    taskApi.faults.output = ({ response }) => {
      sendJson(response, 403, { error: { code: 'output_forbidden', message: 'no' } })
      return true
    }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'output_forbidden' } }])
    expect(taskApi.finished).toBeNull()
    expect(await findFfmpegProcesses(fixtures.workDir)).toEqual([])
    expect(await fixtures.workDirEntries()).toEqual([])
  })

  test('a truncated source never yields a shorter manifest', async () => {
    // Far more than is read ahead before the first segment exists.
    taskApi.source = { bytes: await repeated(await makeSourceClip(fixtures, 30, 'ts'), 16) }
    taskApi.task = segmentedTask(CMAF)
    const open = new Set<ServerResponse>()
    let gone = false
    taskApi.faults.input = ({ response }) => {
      open.add(response)
      if (gone) sendJson(response, 502, { error: { code: 'source_unreachable', message: 'gone' } })
      return gone
    }
    taskApi.faults.output = () => {
      gone = true
      for (const response of open) response.destroy()
      return false
    }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'source_unreachable' } }])
    expect(taskApi.outputs.size).toBeGreaterThan(0)
    expect(taskApi.finished).toBeNull()
    expect(await fixtures.workDirEntries()).toEqual([])
  })
})
