// In charge of: copies of unusual sources: open GOPs, irregular key frames, variable rates, edit lists, damage.
// Not in charge of: outputs of an ordinary source (copies.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { ffmpeg, probeStream } from '../../../support/media/media.ts'
import { audioShifts, frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { makePlayerClip, PLAYER_CLIP } from '../../../support/media/playerClip.ts'
import { readCues } from '../../../support/mpegts/cueClips.ts'
import { audioPackets, videoPackets } from '../../../support/media/packetHashes.ts'
import {
  copyTask,
  expectSamePackets,
  hashes,
  readPlaylist,
  useCopyAttempts,
} from '../../../support/transcoder/copyTasks.ts'
import { joinedSegments } from '../../../support/transcoder/segmentedTask.ts'

const { path, attempt, failure, warnings, estimate } = useCopyAttempts()

describe('what people bring', () => {
  const HLS = { output_container: 'mp4', segmented_output_hls: true, segment_length: 3 } as const
  const x264 = (params: string): string[] => ['-x264-params', params]

  test('open GOPs: a file copies them, segments are refused with the numbers', async () => {
    await makeNumberedClip(path('open.mp4'), { seconds: 12, video: x264('open-gop=1:keyint=40:scenecut=0:bframes=2') })
    const objects = await attempt('open.mp4', copyTask({}))
    await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
    expectSamePackets(await videoPackets(path('out.mp4')), await videoPackets(path('open.mp4')))
    await attempt('open.mp4', copyTask(HLS, true))
    expect(failure().code).toBe('copy_not_possible')
    expect(failure().message).toMatch(
      /segment at 0 s would last 12 s, .* 10 s at most: .*\(of its \d+ key frames, 1 begin a closed GOP\)/,
    )
  })

  test('open GOPs with copy_if_possible: encoded, with the reason as a warning', async () => {
    await makeNumberedClip(path('open.mp4'), { seconds: 12, video: x264('open-gop=1:keyint=40:scenecut=0:bframes=2') })
    const objects = await attempt('open.mp4', copyTask({ ...HLS, copy_if_possible: true }, true))
    expect(failure()).toEqual({})
    expect(warnings()).toContain('copy_not_possible')
    expect(readPlaylist(objects, 'out/video_0/playlist.m3u8').seconds).toEqual([3, 3, 3, 3])
  })

  test('a part of a source with open GOPs begins without the frames that refer to the GOP before', async () => {
    await makeNumberedClip(path('open.mp4'), { seconds: 12, video: x264('open-gop=1:keyint=40:scenecut=0:bframes=2') })
    const objects = await attempt('open.mp4', copyTask({ start_seconds: 5, end_seconds: 8 }))
    expect(failure()).toEqual({})
    await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
    const frames = await frameNumbers(path('out.mp4'))
    expect(frames).toEqual(frames.map((_, at) => frames[0]! + at))
    expect(frames[0]).toBeLessThanOrEqual(125)
    expect(frames.at(-1)).toBeGreaterThanOrEqual(199)
  })

  test('irregular key frames: segments begin at those that are nearest', async () => {
    const at = [0, 1.2, 2.8, 3.4, 6.6, 7.4, 10.2]
    await makeNumberedClip(path('cuts.mp4'), {
      seconds: 12,
      video: ['-g', '300', '-sc_threshold', '0', '-force_key_frames', at.join(',')],
    })
    const objects = await attempt('cuts.mp4', copyTask(HLS, true))
    expect(failure()).toEqual({})
    // 2.8 is nearer to 3 than 3.4; 6.6 is the only one about 3 s later; and so on.
    expect(readPlaylist(objects, 'out/video_0/playlist.m3u8')).toEqual({ seconds: [2.8, 3.8, 3.6, 1.8], target: 4 })
  })

  test('a transport stream that does not begin with a key frame', async () => {
    const packets = await readFile(path('closed.ts'))
    // In the middle of the first GOP.
    const begin = Math.floor((packets.length * 0.07) / 188) * 188
    await writeFile(path('late.ts'), packets.subarray(begin))
    const objects = await attempt('late.ts', copyTask(HLS, true))
    expect(failure()).toEqual({})
    expect(warnings()).toContain('cut_moved')
    await writeFile(path('joined.mp4'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    expect(await frameNumbers(path('joined.mp4'))).toEqual(Array.from({ length: 260 }, (_, frame) => 40 + frame))
    await writeFile(path('audio.mp4'), joinedSegments(objects, 'out/audio_0/playlist.m3u8'))
    const [audio] = await audioPackets(path('audio.mp4'))
    const original = (await audioPackets(path('closed.ts'), true)).find(({ hash }) => hash === audio!.hash)!
    const [first] = await videoPackets(path('closed.ts'))
    expect(Math.abs(original.time - first!.time - 1.6 - audio!.time)).toBeLessThan(0.001)
  })

  test('a variable frame rate', async () => {
    await makeNumberedClip(path('vfr.mp4'), {
      seconds: 12,
      video: [
        '-vf',
        "select='not(mod(n\\,7)*eq(mod(n\\,3)\\,1))'",
        '-fps_mode',
        'vfr',
        '-g',
        '30',
        '-sc_threshold',
        '0',
      ],
    })
    const objects = await attempt('vfr.mp4', copyTask(HLS, true))
    expect(failure()).toEqual({})
    await writeFile(path('joined.mp4'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    expectSamePackets(await videoPackets(path('joined.mp4')), await videoPackets(path('vfr.mp4')))
    const { seconds } = readPlaylist(objects, 'out/video_0/playlist.m3u8')
    expect(seconds.reduce((sum, each) => sum + each, 0)).toBeCloseTo(12, 1)
    await attempt('vfr.mp4', copyTask({ output_container: 'silverlight' }, true))
    expect(failure()).toMatchObject({
      code: 'copy_not_possible',
      message: expect.stringContaining('variable') as string,
    })
  })

  test('hevc, with its sample entry', async () => {
    await makeNumberedClip(path('hevc.mp4'), {
      seconds: 6,
      video: [
        '-c:v',
        'libx265',
        '-x265-params',
        'log-level=error:keyint=40:min-keyint=40:open-gop=0:scenecut=0',
        '-tag:v',
        'hev1',
      ],
    })
    const objects = await attempt('hevc.mp4', copyTask(HLS, true))
    expect(failure()).toEqual({})
    await writeFile(path('joined.mp4'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    expectSamePackets(await videoPackets(path('joined.mp4'), 'hevc'), await videoPackets(path('hevc.mp4'), 'hevc'))
    expect(objects.get('out/master.m3u8')!.toString()).toContain('hvc1.')
  })

  test('a rotated phone video: kept in mp4, refused elsewhere', async () => {
    await ffmpeg(['-y', '-display_rotation', '90', '-i', path('closed.mp4'), '-c', 'copy', path('turned.mp4')]).catch(
      async () =>
        ffmpeg(['-y', '-i', path('closed.mp4'), '-c', 'copy', '-metadata:s:v', 'rotate=90', path('turned.mp4')]),
    )
    const objects = await attempt('turned.mp4', copyTask({}))
    expect(failure()).toEqual({})
    await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
    const of = async (file: string) => {
      const { side_data_list: found = [] } = (await probeStream(path(file), 'video')) as {
        side_data_list?: { rotation?: number }[]
      }
      return found.find(({ rotation }) => rotation !== undefined)?.rotation
    }
    expect(await of('out.mp4')).toBe(await of('turned.mp4'))
    expect(Math.abs(Number(await of('out.mp4')))).toBe(90)
    await attempt('turned.mp4', copyTask(HLS, true))
    expect(failure()).toMatchObject({
      code: 'copy_not_possible',
      message: expect.stringContaining('rotated') as string,
    })
  })

  test('no audio', async () => {
    await ffmpeg(['-y', '-i', path('closed.mp4'), '-an', '-c', 'copy', path('silent.mp4')])
    await attempt('silent.mp4', copyTask({ ...HLS, audioProfiles: [] }, true))
    expect(failure()).toEqual({})
  })

  test('an edit list that begins between key frames', async () => {
    await ffmpeg(['-y', '-ss', '2.4', '-i', path('closed.mp4'), '-c', 'copy', path('edited.mp4')])
    const objects = await attempt('edited.mp4', copyTask({}))
    expect(failure()).toEqual({})
    await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
    expect((await frameNumbers(path('out.mp4')))[0]).toBe(80)
    expect(warnings()).toContain('cut_moved')
    for (const shift of await audioShifts(path('out.mp4'), 3.2 * 48_000))
      expect(Math.abs(shift)).toBeLessThanOrEqual(1100)
  })

  test('a codec that outputs do not have', async () => {
    await ffmpeg(['-y', '-i', path('closed.mp4'), '-t', '2', '-c:v', 'mpeg4', '-c:a', 'copy', path('other.mp4')])
    await attempt('other.mp4', copyTask({}))
    expect(failure()).toMatchObject({ code: 'copy_not_possible', message: expect.stringContaining('mpeg4') as string })
  })

  test('damage: the packets that are left are copied', async () => {
    const bytes = await readFile(path('closed.ts'))
    bytes.fill(0x47, 188 * 400, 188 * 404)
    await writeFile(path('damaged.ts'), bytes)
    await attempt('damaged.ts', copyTask({ output_container: 'ts' }))
    expect(failure()).toEqual({})
  })
})

test('captions inside the copied video stay, and become WebVTT; cues pass', async () => {
  const clip = await makePlayerClip(path, 15, ['-g', '50', '-sc_threshold', '0'])
  const name = basename(clip)
  const change = { closed_captions: true, scte35_passthough: true, segment_length: 2 } as const
  const encoded = copyTask({}).config.audioProfiles.map((profile) => ({ ...profile, audio_codec: 'aac' as const }))
  const objects = await attempt(
    name,
    copyTask({ ...change, output_container: 'mp4', segmented_output_hls: true, audioProfiles: encoded }, true),
  )
  expect(failure()).toEqual({})
  const [, text] = [...objects].find(([file]) => file.endsWith('/captions.vtt'))!
  expect(text.toString()).toContain(PLAYER_CLIP.caption)
  expect(objects.get('out/master.m3u8')!.toString()).toContain('INSTREAM-ID="CC1"')
  expect(objects.get('out/video_0/playlist.m3u8')!.toString()).toContain('SCTE35-OUT=')
  await writeFile(path('captioned.mp4'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
  expectSamePackets(await videoPackets(path('captioned.mp4')), await videoPackets(path(name)))
})

test('cues pass into a transport stream of copied video', async () => {
  const name = basename(await makePlayerClip(path, 15, ['-g', '50', '-sc_threshold', '0']))
  const files = await attempt(name, copyTask({ scte35_passthough: true, output_container: 'ts' }))
  expect(failure()).toEqual({})
  expect(readCues(files.get('out/v0.ts')!).map(({ splices }) => splices)).toEqual([
    [expect.closeTo(PLAYER_CLIP.splice, 2)],
  ])
})

test('stills, a preview and a storyboard of copied video', async () => {
  const extracts: Partial<JobConfig> = {
    stills: [{ at_seconds: 2, format: 'jpeg', quality: 80 }],
    animated_preview: { format: 'gif', seconds: 1, parts: 2, width: 96, frames_per_second: 5 },
  }
  const change = { output_container: 'mp4', segmented_output_hls: true, segment_length: 3, thumbnails: true } as const
  const objects = await attempt('closed.mp4', copyTask({ ...change, ...extracts }, true))
  expect(failure()).toEqual({})
  const names = [...objects.keys()]
  for (const name of [/_still_\d+_\d+\.jpg$/, /_preview\.gif$/, /storyboard|thumbnails/])
    expect(names, String(name)).toContainEqual(expect.stringMatching(name))
  const still = names.find((name) => /_still_/.test(name))!
  await writeFile(path('still.png'), objects.get(still)!)
  expect(await frameNumbers(path('still.png'))).toEqual([50])
})

test('a dry run says what is copied, and what it costs', async () => {
  await attempt('closed.mp4', {
    ...copyTask({ output_container: 'mp4', segmented_output_hls: true }, true),
    kind: 'plan',
  })
  const { plan, predicted } = estimate()!
  expect(plan.outputs[0]?.description[0]).toMatch(
    /^The source’s video is copied: h.264, 192 × 48, 25 frames per second, .* it has 8 GOPs of 0.8 to 1.6 s, closed; \d+ segments of [\d. to]+ s where 2 s were asked for\.$/,
  )
  expect(plan.outputs[0]?.video).toMatchObject({ codec: 'h264', copied: true })
  expect(plan.outputs[1]?.audio[0]).toMatchObject({ codec: 'aac', copied: true, channels: 1 })
  // An encode of 12 s would take about 2 s more.
  expect(predicted.cpu_seconds!.likely).toBeLessThan(2.2)
})

describe('audio codecs', () => {
  test.each(['ac3', 'eac3', 'mp2', 'mp3', 'flac', 'opus'] as const)('%s as a file of its own', async (codec) => {
    const encoder = { mp3: 'libmp3lame', opus: 'libopus' }[codec as string] ?? codec
    const clip = `${codec}.mkv`
    await ffmpeg(['-y', '-i', path('closed.mp4'), '-t', '4', '-c:v', 'copy', '-ac', '2', '-c:a', encoder, path(clip)])
    const objects = await attempt(clip, copyTask({ videoProfiles: [], audio_output_path: 'sound' }))
    expect(failure()).toEqual({})
    const [name, bytes] = [...objects].find(([file]) => file.startsWith('sound/'))!
    expect(name.endsWith(`.${codec}`)).toBe(true)
    await writeFile(path(`alone.${codec}`), bytes)
    // Plain frames have no times: the packet before 0 is left out.
    const [copied, original] = [await audioPackets(path(`alone.${codec}`)), await audioPackets(path(clip))]
    expect(hashes(original).slice(-copied.length)).toEqual(hashes(copied))
    expect(original.length - copied.length).toBeLessThanOrEqual(['ac3', 'eac3', 'mp2'].includes(codec) ? 1 : 0)
  })

  test('a source of audio alone becomes a file', async () => {
    await ffmpeg(['-y', '-i', path('closed.mp4'), '-vn', '-c:a', 'copy', path('music.m4a')])
    const files = await attempt('music.m4a', copyTask({ videoProfiles: [], audio_output_path: 'sound' }))
    expect(failure()).toEqual({})
    const [name, bytes] = [...files].find(([file]) => file.startsWith('sound/'))!
    expect(name).toMatch(/\.m4a$/)
    await writeFile(path('copied.m4a'), bytes)
    expect(hashes(await audioPackets(path('copied.m4a')))).toEqual(hashes(await audioPackets(path('music.m4a'))))
  })

  test('a source of audio alone becomes segments', async () => {
    await ffmpeg(['-y', '-i', path('closed.mp4'), '-vn', '-c:a', 'copy', path('music.m4a')])
    const hls: Partial<JobConfig> = {
      output_container: 'mp4',
      segmented_output_hls: true,
      segment_length: 3,
      videoProfiles: [],
    }
    const objects = await attempt('music.m4a', copyTask(hls, true))
    expect(failure()).toEqual({})
    await writeFile(path('joined.mp4'), joinedSegments(objects, 'out/audio_0/playlist.m3u8'))
    const original = hashes(await audioPackets(path('music.m4a')))
    const copied = hashes(await audioPackets(path('joined.mp4')))
    // The packet that primes the decoder is before 0.
    expect(copied).toEqual(original.slice(-copied.length))
    expect(original.length - copied.length).toBeLessThanOrEqual(1)
    const playlist = objects.get('out/audio_0/playlist.m3u8')!.toString()
    expect(playlist.match(/#EXTINF:[\d.]+/g)).toHaveLength(4)
  })

  test.each(['ac3', 'eac3', 'flac'] as const)('%s as separate audio of HLS', async (codec) => {
    await ffmpeg([
      '-y',
      '-i',
      path('closed.mp4'),
      '-c:v',
      'copy',
      '-ac',
      '2',
      '-c:a',
      codec,
      '-strict',
      '-2',
      path('codec.mp4'),
    ])
    const objects = await attempt(
      'codec.mp4',
      copyTask({ output_container: 'mp4', segmented_output_hls: true, segment_length: 3 }, true),
    )
    expect(failure()).toEqual({})
    await writeFile(path('joined.mp4'), joinedSegments(objects, 'out/audio_0/playlist.m3u8'))
    const [copied, original] = [await audioPackets(path('joined.mp4')), await audioPackets(path('codec.mp4'))]
    expect(hashes(original).slice(-copied.length)).toEqual(hashes(copied))
    expect(original.length - copied.length).toBeLessThanOrEqual(1)
  })

  test('mono at 22.05 kHz keeps its rate and its channel', async () => {
    await ffmpeg([
      '-y',
      '-i',
      path('closed.mp4'),
      '-c:v',
      'copy',
      '-ac',
      '1',
      '-ar',
      '22050',
      '-c:a',
      'aac',
      path('low.mp4'),
    ])
    const objects = await attempt(
      'low.mp4',
      copyTask({ output_container: 'ts', segmented_output_hls: true, master_variant_mode: true }, true),
    )
    expect(failure()).toEqual({})
    await writeFile(path('joined.ts'), joinedSegments(objects, 'out/audio_0/playlist.m3u8'))
    expect(await probeStream(path('joined.ts'), 'audio')).toMatchObject({ sample_rate: '22050', channels: 1 })
    expect(objects.get('out/master.m3u8')!.toString()).toContain('CHANNELS="1"')
  })
})

describe('HE-AAC is announced as such, wherever the source says so', () => {
  // The header of an mp4 declares it; a transport stream shows it in its frames only.
  const forms = {
    cmaf: { output_container: 'mp4', segmented_output_hls: true, segmented_output_dash: true },
    ts: { output_container: 'ts', segmented_output_hls: true },
    smooth: { output_container: 'silverlight' },
  } as const
  const cases = [
    { clip: 'he-aac', source: 'mp4', form: 'cmaf', codec: 'mp4a.40.5' },
    { clip: 'he-aac', source: 'ts', form: 'cmaf', codec: 'mp4a.40.5' },
    { clip: 'he-aac-v2', source: 'mp4', form: 'cmaf', codec: 'mp4a.40.29' },
    { clip: 'he-aac-v2', source: 'ts', form: 'ts', codec: 'mp4a.40.29' },
    { clip: 'he-aac', source: 'ts', form: 'smooth', codec: 'AACH' },
  ] as const
  test.each(cases)('$clip in $source, into $form', async ({ clip, source, form, codec }) => {
    const audio = join(import.meta.dirname, '../../../support/media/clips', `${clip}.m4a`)
    const name = `${clip}.${source}`
    const streams = ['-map', '0:v', '-map', '1:a', '-c', 'copy', '-t', '3']
    await ffmpeg(['-y', '-i', path('closed.mp4'), '-i', audio, ...streams, path(name)])
    const task = copyTask({ ...forms[form], segment_length: 2 }, true)
    const objects = await attempt(name, task)
    expect(failure()).toEqual({})
    const text = (suffix: string): string => [...objects].find(([file]) => file.endsWith(suffix))![1].toString()
    if (form === 'smooth') expect(text('Manifest')).toContain(`FourCC="${codec}"`)
    else expect(text('master.m3u8')).toMatch(new RegExp(`CODECS="avc1\\.[0-9a-f]{6},${codec.replaceAll('.', '\\.')}"`))
    if (form === 'cmaf') expect(text('.mpd')).toContain(`codecs="${codec}" audioSamplingRate="48000"`)
    if (form !== 'cmaf') return
    await writeFile(path('joined.mp4'), joinedSegments(objects, 'out/audio_0/playlist.m3u8'))
    const copied = hashes(await audioPackets(path('joined.mp4')))
    expect(hashes(await audioPackets(path(name), source === 'ts')).join()).toContain(copied.join())
  })

  test('a source that declares it behind the configuration of the core', async () => {
    const small = ['-y', '-i', path('closed.mp4'), '-t', '4', '-c:v', 'copy', '-ar', '24000', '-ac', '2', '-c:a', 'aac']
    await ffmpeg([...small, path('core.mp4')])
    const bytes = await readFile(path('core.mp4'))
    // The encoder's own extension says that there is none; 0x98: there is one, of 48 kHz.
    const at = bytes.indexOf(Buffer.of(0x56, 0xe5, 0x00), bytes.indexOf('esds'))
    bytes[at + 2] = 0x98
    await writeFile(path('declared.mp4'), bytes)
    const objects = await attempt('declared.mp4', copyTask({ ...forms.cmaf, segment_length: 2 }, true))
    expect(failure()).toEqual({})
    expect(objects.get('out/master.m3u8')!.toString()).toContain('mp4a.40.5"')
  })
})
