// Audio, timestamps and the structure of files.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkMp4 } from '../../../../transcoder/mp4FileCheck.ts'
import {
  decodeFrames,
  ffmpeg,
  lavfi,
  makeClip,
  probeFile,
  probeStream,
  readPackets,
  sharedClip,
} from '../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { sampled } from '../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
let clip = ''
beforeAll(async () => {
  clip = await makeClip(tempDir.file('sound.mp4'), {
    audio: [2, 6, 1],
    seconds: 4,
    flags: ['-metadata', 'title=private', '-metadata:s:a:1', 'language=deu'],
  })
})

describe('audio', () => {
  const profiles: [string, 'mp4' | 'ts', Parameters<typeof audioProfile>[0], string, number, string][] = [
    ['aac 5.1', 'mp4', { channels: 6, sourceStream: 2, bitrateKbps: 256 }, 'aac', 6, '5.1'],
    ['aac 5.1 of stereo', 'mp4', { channels: 6, bitrateKbps: 256 }, 'aac', 6, '5.1'],
    ['ac3 stereo of 5.1', 'mp4', { codec: 'ac3', sourceStream: 2, bitrateKbps: 192 }, 'ac3', 2, 'stereo'],
    ['mp2 of mono', 'ts', { codec: 'mp2', sourceStream: 3, bitrateKbps: 192 }, 'mp2', 2, 'stereo'],
  ]
  test.each(sampled(profiles, 3))('%s in %s', async (_title, container, change, codec, channels, layout) => {
    const { outputs } = await encode(jobSpec({ container, audio: [audioProfile(change)] }), clip)
    expect(await probeStream(outputs[0], 'audio')).toMatchObject({
      codec_name: codec,
      channels,
      channel_layout: layout,
      sample_rate: '48000',
    })
    const raw = await ffmpeg(['-i', outputs[0], '-map', '0:a', '-f', 's16le', '-'])
    const seconds = raw.length / 2 / channels / 48000
    expect(Math.abs(seconds - 4)).toBeLessThan(0.1)
  })

  test('two audio tracks keep their order and language, and no metadata of the source is copied', async () => {
    const spec = jobSpec({
      video: [
        videoProfile({ audioProfiles: [0, 1] }),
        videoProfile({ index: 1, width: 160, height: 90, audioProfiles: [0] }),
      ],
      audio: [
        audioProfile({ sourceStream: 2 }),
        audioProfile({ index: 1, codec: 'ac3', sourceStream: 2, bitrateKbps: 192 }),
      ],
    })
    const { outputs } = await encode(spec, clip)
    const { streams, format } = await probeFile(outputs[0])
    expect(streams.map((found) => found.codec_name)).toEqual(['h264', 'aac', 'ac3'])
    expect(streams[1]?.tags?.['language']).toBe('deu')
    expect(JSON.stringify({ streams, format })).not.toMatch(/private|Lavf/)
    expect((await probeFile(outputs[1] ?? '')).streams).toHaveLength(2)
  })

  test('real 5.1 becomes stereo', async (context) => {
    const real = sharedClip(context, 'bigbuckbunny.mp4')
    const { outputs } = await encode(jobSpec(), real)
    expect(await probeStream(outputs[0], 'audio')).toMatchObject({ channels: 2 })
    expect(await decodeFrames(outputs[0])).toHaveLength(132)
  })
})

describe('clocks', () => {
  /** Seconds at which the video turns white and the tone starts, by decoding. */
  async function flashAndBeep(path: string): Promise<{ flash: number; beep: number }> {
    const list = await decodeFrames(path)
    const gray = await ffmpeg(`-i ${path} -vf scale=1:1,format=gray -fps_mode passthrough -f rawvideo -`.split(' '))
    const first = gray.findIndex((value) => value > 128)
    const raw = await ffmpeg(['-i', path, '-map', '0:a', '-ac', '1', '-af', 'aresample=async=1', '-f', 's16le', '-'])
    const samples = new Int16Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length))
    const audioTrack = Number((await readPackets(path, 'a:0'))[0]?.pts_time)
    const { codec_name: codec } = await probeStream(path, 'audio')
    expect(codec).toBe('aac')
    return {
      flash: Number(list[first]?.best_effort_timestamp_time),
      beep: Math.max(audioTrack, 0) + samples.findIndex((sample) => Math.abs(sample) > 2000) / 48000,
    }
  }

  test.each(sampled(['mp4', 'ts'] as const, 1))('%s: a flash and a beep at 1 s stay together', async (container) => {
    const flash = tempDir.file('flash.ts')
    const picture = "color=black:s=320x180:r=25:d=3,drawbox=c=white:t=fill:enable='gte(t,1)'"
    const tone = "aevalsrc='if(gte(t,1),0.5*sin(2*PI*1000*t),0)':s=48000:d=3,aformat=channel_layouts=stereo"
    const inputs = lavfi(picture, tone)
    await ffmpeg([...inputs, '-c:v', 'mpeg2video', '-b:v', '2M', '-bf', '2', '-c:a', 'mp2', flash])
    const { outputs } = await encode(jobSpec({ container }), flash)
    const found = await flashAndBeep(outputs[0])
    expect(Math.abs(found.flash - found.beep)).toBeLessThan(0.03)
    expect(await decodeFrames(outputs[0])).toHaveLength(75)
  })

  test('video that begins 60 ms after its audio has no frame too many', async () => {
    const late = tempDir.file('late.ts')
    const inputs = '-f lavfi -i sine=d=4:r=48000 -itsoffset 0.06 -f lavfi -i testsrc2=s=320x180:r=25:d=4'.split(' ')
    await ffmpeg([...inputs, '-c:v', 'mpeg2video', '-b:v', '2M', '-c:a', 'mp2', late])
    const { outputs, plan } = await encode(jobSpec(), late)
    expect(plan.videoOffsetSeconds).toBeGreaterThan(0.03)
    expect(await decodeFrames(outputs[0])).toHaveLength(100)
    expect(Number((await probeStream(outputs[0], 'video')).start_time)).toBeCloseTo(0, 2)
  })

  test('a source of variable rate becomes constant and keeps its length', async () => {
    const variable = tempDir.file('variable.mkv')
    const picture = "testsrc2=s=320x180:r=30:d=4,select='not(between(mod(n,10),4,6))'"
    await ffmpeg(`-f lavfi -i ${picture} -fps_mode vfr -c:v libx264 -preset ultrafast ${variable}`.split(' '))
    const { outputs, plan } = await encode(jobSpec({ video: [videoProfile({ audioProfiles: [] })] }), variable)
    const rate = plan.outputs[0]?.video.frameRate ?? { num: 0, den: 1 }
    const decoded = await decodeFrames(outputs[0])
    expect(Math.abs(decoded.length - (4 * rate.num) / rate.den)).toBeLessThanOrEqual(2)
  })

  test('one long interval among 39 of 33.3 ms does not change the rate', async () => {
    const phone = tempDir.file('phone.mp4')
    const picture = "testsrc2=s=320x180:r=30:d=1.5,select='lt(n,39)+gt(n,43)',trim=end_frame=41"
    await ffmpeg([...[...lavfi(picture), '-fps_mode', 'vfr'], ...['-c:v', 'libx264', '-preset', 'ultrafast', phone]])
    const { outputs, plan } = await encode(jobSpec({ video: [videoProfile({ audioProfiles: [] })] }), phone)
    expect((await probeStream(outputs[0], 'video')).avg_frame_rate).toBe('30/1')
    expect(plan.warnings.map(({ code }) => code)).toEqual(['variable_frame_rate'])
  })
})

describe('the boxes of an mp4', () => {
  test('the header is in front within its reserve, and the chain is whole', async () => {
    const { outputs, plan } = await encode(jobSpec(), clip)
    const check = await checkMp4(outputs[0])
    expect(check).toMatchObject({ moovBeforeMdat: true, complete: true, problem: null })
    const moov = check.boxes.find((box) => box.type === 'moov')
    expect(moov?.size).toBeLessThan(plan.outputs[0]?.headerReserveBytes ?? 0)
  })

  test('the reserve holds for the costliest stream: 60 frames with three B-frames, two tracks', async () => {
    const fast = await makeClip(tempDir.file('fast.mp4'), { rate: '60', seconds: 8, width: 64, height: 36, audio: [2] })
    const spec = jobSpec({
      ipDistance: 4,
      video: [videoProfile({ audioProfiles: [0, 1] })],
      audio: [audioProfile(), audioProfile({ index: 1 })],
    })
    const { outputs } = await encode(spec, fast)
    expect(await checkMp4(outputs[0])).toMatchObject({ moovBeforeMdat: true, complete: true })
  })

  test('a reserve that was too small is noticed, whatever ffmpeg’s exit code says', async () => {
    const small = tempDir.file('small.mp4')
    // 5.1 exits with 0 here, 7.0 with an error.
    await ffmpeg(['-i', clip, '-map', '0:v', '-map', '0:a:0', '-c', 'copy', '-moov_size', '600', small]).catch(() => {})
    expect(await checkMp4(small)).toMatchObject({ complete: false })
  })

  test('a header at the end, and one moved to the front', async () => {
    const [end, front] = [tempDir.file('end.mp4'), tempDir.file('front.mp4')]
    await ffmpeg(['-i', clip, '-c', 'copy', end])
    await ffmpeg(['-i', clip, '-c', 'copy', '-movflags', '+faststart', front])
    expect(await checkMp4(end)).toMatchObject({ moovBeforeMdat: false, complete: true })
    expect(await checkMp4(front)).toMatchObject({ moovBeforeMdat: true, complete: true })
  })

  /** Boxes with their true sizes unless another size is claimed. */
  const box = (type: string, payload: number, claimed = payload + 8) => {
    const bytes = Buffer.alloc(payload + 8)
    bytes.writeUInt32BE(claimed)
    bytes.write(type, 4, 'latin1')
    return bytes
  }
  test.each([
    ['a whole chain', [box('ftyp', 8), box('moov', 8), box('mdat', 8)], null],
    [
      'media that was cut',
      [box('ftyp', 8), box('moov', 8), box('mdat', 8, 20)],
      'the box mdat at 32 reaches 4 bytes beyond the end',
    ],
    ['a hole of zeros', [box('ftyp', 8), box('moov', 8), box('\0\0\0\0', 8), box('mdat', 8)], 'no box begins at 32'],
    ['a size below a header', [box('ftyp', 8), box('moov', 8, 4), box('mdat', 8)], 'the box moov at 16 claims 4 bytes'],
  ])('%s', async (_title, parts, problem) => {
    const path = tempDir.file('made.mp4')
    await writeFile(path, Buffer.concat(parts))
    expect(await checkMp4(path)).toMatchObject({ problem, complete: problem === null })
  })

  test('a file that was cut, an empty one and text are not complete', async () => {
    const cut = tempDir.file('cut.mp4')
    await writeFile(cut, await readFile(clip))
    await truncate(cut, 20_000)
    expect((await checkMp4(cut)).complete).toBe(false)
    await writeFile(cut, '')
    expect((await checkMp4(cut)).problem).toBe('there is no ftyp and no moov and no mdat')
    await writeFile(cut, 'just some text, longer than a box header')
    expect((await checkMp4(cut)).complete).toBe(false)
  })
})
