// In charge of: video_codec and audio_codec "copy" in whole attempts: the packets of the outputs are those of the source, at
// the right times.
// Not in charge of: unusual sources, and more parts (copies.long.test.ts); players (players/players.test.ts).
import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { sampled } from '../../../support/longForm.ts'
import { audioShifts, frameNumbers } from '../../../support/media/numberedClip.ts'
import { audioPackets, videoPackets } from '../../../support/media/packetHashes.ts'
import {
  copyTask,
  expectSamePackets,
  hashes,
  readPlaylist,
  useCopyAttempts,
} from '../../../support/transcoder/copyTasks.ts'
import { joinedSegments } from '../../../support/transcoder/segmentedTask.ts'

const { path, attempt, failure, warnings, runs } = useCopyAttempts()

describe.each(sampled(['closed.ts', 'closed.mkv', 'closed.mp4'], 1))('%s', (source) => {
  test.each(['mp4', 'ts'] as const)('is copied into an %s file', async (container) => {
    const objects = await attempt(source, copyTask({ output_container: container }))
    expect(failure()).toEqual({})
    const output = path(`out.${container}`)
    await writeFile(output, objects.get(`out/v0.${container}`)!)
    expectSamePackets(await videoPackets(output), await videoPackets(path(source)))
    const packets = await audioPackets(output, container === 'ts')
    const original = await audioPackets(path(source), source.endsWith('ts'))
    expect(hashes(packets)).toEqual(hashes(original))
    // A transport stream begins with the packet that only primes the decoder.
    const [audio] = await audioPackets(output, container === 'ts')
    const [video] = await videoPackets(output)
    const early = container === 'ts' ? Math.round((video!.time - audio!.time) * 48_000) : 0
    for (const shift of await audioShifts(output, 0)) expect(Math.abs(shift - early)).toBeLessThanOrEqual(48)
    expect(await frameNumbers(output)).toEqual(Array.from({ length: 300 }, (_, frame) => frame))
    expect(warnings()).toEqual([])
  })
})

describe('segments', () => {
  const FORMS = {
    'HLS and DASH with CMAF': { output_container: 'mp4', segmented_output_hls: true, segmented_output_dash: true },
    'HLS with transport streams': { output_container: 'ts', segmented_output_hls: true },
    'HLS with transport streams and separate audio': {
      output_container: 'ts',
      segmented_output_hls: true,
      master_variant_mode: true,
    },
  } as const

  const cases = Object.entries(FORMS).flatMap(([name, change]) =>
    (['closed.mp4', 'closed.ts'] as const).map((source) => ({ name, change, source })),
  )
  test.each(sampled(cases, 2))('$name of $source', async ({ change, source }) => {
    const objects = await attempt(source, copyTask({ ...change, segment_length: 3 }, true))
    expect(failure()).toEqual({})
    const joined = path('joined.bin')
    await writeFile(joined, joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    expectSamePackets(await videoPackets(joined), await videoPackets(path(source)))
    // GOPs of 1.6 s: two of them are nearer to 3 s than one.
    const video = readPlaylist(objects, 'out/video_0/playlist.m3u8')
    expect(video).toEqual({ seconds: [3.2, 3.2, 3.2, 2.4], target: 3 })
    const isSeparate = 'master_variant_mode' in change || change.output_container !== 'ts'
    if (!isSeparate) return
    await writeFile(path('audio.bin'), joinedSegments(objects, 'out/audio_0/playlist.m3u8'))
    const isTs = change.output_container === 'ts'
    const original = await audioPackets(path(source), source.endsWith('ts'))
    const packets = hashes(await audioPackets(path('audio.bin'), isTs))
    // CMAF has no edit list: the packet that only primes the decoder is left out.
    expect(packets).toEqual(hashes(original).slice(original.length - packets.length))
    expect(original.length - packets.length).toBeLessThanOrEqual(isTs ? 0 : 1)
    const cut = readPlaylist(objects, 'out/audio_0/playlist.m3u8').seconds
    for (const [at, seconds] of cut.slice(0, 3).entries())
      expect(Math.abs(seconds - video.seconds[at]!)).toBeLessThan(0.03)
  })

  test('Smooth Streaming, and a tar', async () => {
    const objects = await attempt(
      'closed.mp4',
      copyTask({ output_container: 'silverlight', segment_length: 3, create_tar_file: true }, true),
    )
    expect(failure()).toEqual({})
    const manifest = objects.get('out/out.ism/Manifest')!.toString()
    expect([...manifest.matchAll(/<c [^>]*?d="(\d+)"/g)].slice(0, 4).map(([, ticks]) => Number(ticks) / 1e7)).toEqual([
      3.2, 3.2, 3.2, 2.4,
    ])
  })

  test('a ladder with one copied rung has the same segments in every rendition', async () => {
    const task = copyTask({ output_container: 'mp4', segmented_output_hls: true, segment_length: 3 }, true)
    const [copied] = task.config.videoProfiles
    const { video_codec: _copy, ...encoded } = copied!
    task.config.videoProfiles = [
      copied!,
      { ...encoded, width: 96, height: 24, video_bitrate: 200 },
      { ...encoded, width: 96, height: 24, video_bitrate: 200, video_framerate: '1/2x' },
    ]
    task.config.audioProfiles = [{ ...task.config.audioProfiles[0]!, audio_codec: 'aac' }]
    const objects = await attempt('closed.mp4', task)
    expect(failure()).toEqual({})
    for (const rendition of [0, 1, 2]) {
      expect(readPlaylist(objects, `out/video_${rendition}/playlist.m3u8`).seconds).toEqual([3.2, 3.2, 3.2, 2.4])
      await writeFile(path('joined.mp4'), joinedSegments(objects, `out/video_${rendition}/playlist.m3u8`))
      const frames = Array.from({ length: 300 }, (_, frame) => frame)
      expect(await frameNumbers(path('joined.mp4'))).toEqual(frames.filter((frame) => rendition < 2 || frame % 2 === 0))
    }
    const master = objects.get('out/master.m3u8')!.toString()
    expect(master).toContain('RESOLUTION=192x48')
  })
})

test('the index of an mp4 replaces a second reading of the source', async () => {
  for (const [source, isRead] of [
    ['closed.mp4', false],
    ['closed.ts', true],
  ] as const) {
    await attempt(source, { ...copyTask({}), accepts: { source: false, preview: false, log: true } })
    expect(failure()).toEqual({})
    expect(runs()).toContain('encode')
    expect(runs().includes('list the frames of the source'), source).toBe(isRead)
  }
})

describe('a part of the source', () => {
  // Key frames every 40 frames; the frame before number 103 that nothing refers across ends at 103 or just after.
  test.each(sampled(['closed.ts', 'closed.mp4', 'closed.mkv'], 1))(
    '%s begins with the key frame before start_seconds, and everything with it',
    async (source) => {
      const objects = await attempt(source, copyTask({ start_seconds: 2.4, end_seconds: 4.12 }))
      expect(failure()).toEqual({})
      await writeFile(path('part.mp4'), objects.get('out/v0.mp4')!)
      const frames = await frameNumbers(path('part.mp4'))
      expect(frames[0]).toBe(40)
      expect(frames).toEqual(frames.map((_, at) => 40 + at))
      expect(frames.at(-1)).toBeGreaterThanOrEqual(102)
      expect(frames.at(-1)).toBeLessThanOrEqual(105)
      for (const shift of await audioShifts(path('part.mp4'), 1.6 * 48_000))
        expect(Math.abs(shift)).toBeLessThanOrEqual(1100)
      // The first packet of the audio is heard at its time.
      const [audio] = await audioPackets(path('part.mp4'))
      const [video] = await videoPackets(path('part.mp4'))
      expect(audio!.time - video!.time).toBeGreaterThanOrEqual(-0.0015)
      expect(audio!.time - video!.time).toBeLessThan(0.022)
      const whole = (await audioPackets(path(source), source.endsWith('ts'))).find(({ hash }) => hash === audio!.hash)
      const [first] = await videoPackets(path(source))
      expect(Math.abs(whole!.time - first!.time - 1.6 - (audio!.time - video!.time))).toBeLessThan(0.0015)
      expect(warnings()).toContain('cut_moved')
    },
  )

  test('encoded audio is cut with the copied video', async () => {
    const task = copyTask({ start_seconds: 2.4 })
    task.config.audioProfiles = [{ ...task.config.audioProfiles[0]!, audio_codec: 'aac' }]
    const objects = await attempt('closed.mp4', task)
    expect(failure()).toEqual({})
    await writeFile(path('part.mp4'), objects.get('out/v0.mp4')!)
    for (const shift of await audioShifts(path('part.mp4'), 1.6 * 48_000))
      expect(Math.abs(shift)).toBeLessThanOrEqual(1)
  })

  test('encoded video is cut to the frame, and copied audio stays in sync', async () => {
    const task = copyTask({ start_seconds: 2.4, end_seconds: 5 })
    const [{ video_codec: _copy, ...profile } = task.config.videoProfiles[0]!] = task.config.videoProfiles
    task.config.videoProfiles = [{ ...profile, width: 192, height: 48 }]
    const objects = await attempt('closed.mp4', task)
    expect(failure()).toEqual({})
    await writeFile(path('part.mp4'), objects.get('out/v0.mp4')!)
    expect(await frameNumbers(path('part.mp4'))).toEqual(Array.from({ length: 65 }, (_, at) => 60 + at))
    const [audio] = await audioPackets(path('part.mp4'))
    const original = (await audioPackets(path('closed.mp4'))).find(({ hash }) => hash === audio!.hash)!
    expect(Math.abs(original.time - 2.4 - audio!.time)).toBeLessThan(0.001)
    expect(warnings()).not.toContain('cut_moved')
  })

  test('segments of a part', async () => {
    const objects = await attempt(
      'closed.ts',
      copyTask(
        { output_container: 'mp4', segmented_output_hls: true, segment_length: 3, start_seconds: 3.3, end_seconds: 9 },
        true,
      ),
    )
    expect(failure()).toEqual({})
    await writeFile(path('joined.mp4'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    const frames = await frameNumbers(path('joined.mp4'))
    expect(frames).toEqual(frames.map((_, at) => 80 + at))
    expect(frames.length).toBeGreaterThanOrEqual(145)
    expect(frames.length).toBeLessThanOrEqual(148)
    const { seconds } = readPlaylist(objects, 'out/video_0/playlist.m3u8')
    expect(seconds).toHaveLength(2)
    expect(seconds[0]).toBe(3.2)
  })
})
