// Closed captions by their text: a decoder reads the same from the output as from the source.
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test, type TestContext } from 'vitest'
import { readUserData } from '../../../../transcoder/formats/video/userData.ts'
import { testFfmpeg, ffmpeg, sharedClip } from '../../../support/media/media.ts'
import { jobSpec, videoProfile } from '../../../support/transcoder/jobSpecs.ts'
import { readCaptions, carriedCaptionChannels, type CaptionCue } from '../../../support/captions/decodedCaptions.ts'
import { encoderIn } from '../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { sampled } from '../../../support/longForm.ts'
import { smallCaptionsTest } from '../../../support/captions/captionedClip.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const video = [videoProfile({ width: 320, height: 180, bitrateKbps: 1500, audioProfiles: [] })]
const clips = ['captions-test.ts', 'multi-channel-608-captions.ts'] as const

/** The first `seconds` of a real clip, with copied packets. */
async function beginning(path: string, seconds: number): Promise<string> {
  const cut = tempDir.file(`cut_${seconds}_${basename(path)}`)
  if (!existsSync(cut)) await ffmpeg(['-i', path, '-map', '0:V:0', '-c', 'copy', '-t', `${seconds}`, cut])
  return cut
}

describe.each(clips)('%s', (name) => {
  const channels = name === 'captions-test.ts' ? ['CC1', 'SERVICE1'] : ['CC1', 'CC3']

  test.for(
    sampled(
      [
        ['h264', 'ts'],
        ['h264', 'mp4'],
        ['mpeg2', 'ts'],
      ] as const,
      2,
    ),
  )('in %s %s the text is the same', async ([videoCodec, container], context) => {
    const clip = name === clips[0] ? await smallCaptionsTest(context) : sharedClip(context, name)
    const spec = jobSpec({ videoCodec, container, video, audio: [] })
    const { outputs, plan } = await encode(spec, clip)
    const said = plan.warnings.filter((warning) => warning.code.startsWith('captions'))
    // This clip has one message per field: an old decoder reads only one of them, and half of the captions would be
    // worse than none.
    if (name === clips[1] && !(await testFfmpeg()).features.severalCaptionMessages) {
      expect(said).toMatchObject([{ code: 'captions_removed', message: expect.stringContaining('only some of them') }])
      expect((await carriedCaptionChannels(outputs[0], videoCodec)).pictures).toBe(0)
      return
    }
    expect(said).toEqual([])
    const before = await readCaptions(clip)
    const after = await readCaptions(outputs[0])
    expect(before.length).toBeGreaterThan(1)
    expect(after.map((cue) => cue.text)).toEqual(before.map((cue) => cue.text))
    // The filter's clock starts at the first bytes that it understands: only the time between changes counts.
    const changes = (cues: CaptionCue[]) => cues.flatMap((cue) => cue.seconds).slice(1)
    for (const [index, second] of changes(before).entries())
      expect(changes(after)[index]! - changes(after)[0]! - second + changes(before)[0]!).toBeCloseTo(0, 1)
    expect((await carriedCaptionChannels(outputs[0], videoCodec)).channels).toEqual(channels)
  })
})

test('the output carries the same caption bytes as the source, in order', async (context) => {
  const clip = await beginning(sharedClip(context, clips[1]), 3)
  // No B-frames, in the source neither: coded order is presentation order.
  const { outputs } = await encode(jobSpec({ container: 'ts', ipDistance: 1, video, audio: [] }), clip)
  if (!(await testFfmpeg()).features.severalCaptionMessages) {
    expect((await carriedCaptionChannels(outputs[0], 'h264')).pictures).toBe(0)
    return
  }
  const bytes = async (path: string) => {
    const { captions } = readUserData(await ffmpeg(['-i', path, '-c', 'copy', '-f', 'h264', '-']), 'h264')
    // Without padding: the source has one message per field, the output one for both fields.
    return Buffer.concat(captions)
      .toString('hex')
      .match(/.{6}/g)!
      .filter((triplet) => triplet !== 'fa0000')
  }
  const [before, after] = [await bytes(clip), await bytes(outputs[0])]
  // Two pairs for each of 90 frames; the source's first frame has some more, left from a cut.
  expect(after).toHaveLength(180)
  expect(after).toEqual(before.slice(0, 180))
})

describe('removed', () => {
  test.for(sampled(['h264', 'mpeg2', 'hevc'] as const, 1))('false leaves none in %s', async (videoCodec, context) => {
    const clip = await beginning(sharedClip(context, clips[1]), 3)
    const spec = jobSpec({ videoCodec, container: 'ts', closedCaptions: false, video, audio: [] })
    const { outputs, plan } = await encode(spec, clip)
    expect((await carriedCaptionChannels(clip, 'h264')).pictures).toBeGreaterThan(80)
    expect((await carriedCaptionChannels(outputs[0], videoCodec)).pictures).toBe(0)
    expect(plan.warnings.map((warning) => warning.code)).not.toContain('captions_removed')
  })

  test('half the frame rate would garble them: none are left, and a warning names the channels', async (context) => {
    const clip = await beginning(sharedClip(context, clips[1]), 3)
    const half = [videoProfile({ ...video[0], frameRateFactor: '1/2x' })]
    const { outputs, plan } = await encode(jobSpec({ container: 'ts', video: half, audio: [] }), clip)
    expect((await carriedCaptionChannels(outputs[0], 'h264')).pictures).toBe(0)
    const said = plan.warnings.find((warning) => warning.code === 'captions_removed')
    expect(said?.message).toBe(
      'The source’s closed captions (CC1, CC3) are left out: the frame rate changes, which would garble them; closed_captions: true sends them again in the new frames.',
    )
  })

  test('hevc carries them or says that it does not', async (context) => {
    const clip = await beginning(sharedClip(context, clips[1]), 3)
    const { outputs, plan } = await encode(jobSpec({ videoCodec: 'hevc', video, audio: [] }), clip)
    const able = (await testFfmpeg()).features.hevcCaptions
    expect((await carriedCaptionChannels(outputs[0], 'hevc')).channels).toEqual(able ? ['CC1', 'CC3'] : [])
    expect(plan.warnings.some((warning) => warning.code === 'captions_removed')).toBe(!able)
  })
})

describe('interlaced video with captions', () => {
  /** Moving interlaced fields, with the captions of a real clip. */
  async function fields(context: TestContext): Promise<string> {
    const path = tempDir.file('fields.ts')
    if (existsSync(path)) return path
    const clip = await smallCaptionsTest(context)
    const moving = 'testsrc2=s=320x240:r=60000/1001:d=8,tinterlace=mode=interleave_top'
    const graph = `[0:V:0]fps=30000/1001,scale=320:240,setsar=1[a];${moving}[b];[a][b]overlay=shortest=1,setfield=tff`
    const coded = '-c:v libx264 -preset ultrafast -qp 20 -pix_fmt yuv420p -flags +ilme+ildct -x264-params tff=1'
    await ffmpeg(['-i', clip, '-filter_complex', graph, ...coded.split(' '), '-a53cc', '1', path])
    return path
  }
  const texts = (cues: CaptionCue[]) => cues.map((cue) => cue.text)

  test.for(sampled(['h264', 'mpeg2'] as const, 1))(
    'of the source’s size stay interlaced and keep the text in %s',
    async (videoCodec, context) => {
      const clip = await fields(context)
      const same = [videoProfile({ width: 320, height: 240, bitrateKbps: 3000, audioProfiles: [] })]
      const { outputs, plan } = await encode(jobSpec({ videoCodec, container: 'ts', video: same, audio: [] }), clip)
      expect(plan.outputs[0]!.video).toMatchObject({ scan: 'tff', deinterlace: 'none', captions: true })
      expect(texts(await readCaptions(clip)).length).toBeGreaterThan(1)
      expect(texts(await readCaptions(outputs[0]))).toEqual(texts(await readCaptions(clip)))
    },
  )

  test.for(sampled(['h264', 'mpeg2'] as const, 1))(
    'that are interlaced in another size lose it with a warning in %s, and nothing garbled is left',
    async (videoCodec, context) => {
      const other = [videoProfile({ width: 720, height: 576, bitrateKbps: 6000, audioProfiles: [] })]
      const { outputs, plan } = await encode(
        jobSpec({ videoCodec, container: 'ts', video: other, audio: [] }),
        await fields(context),
      )
      expect(plan.outputs[0]!.video).toMatchObject({ scan: 'tff', deinterlace: 'fields', captions: false })
      expect(plan.warnings).toContainEqual(
        expect.objectContaining({ code: 'captions_removed', message: expect.stringContaining('CC1') }),
      )
      expect((await carriedCaptionChannels(outputs[0], videoCodec)).pictures).toBe(0)
    },
  )

  test('of another size keep it when they become progressive', async (context) => {
    const clip = await fields(context)
    const small = [videoProfile({ width: 240, height: 180, bitrateKbps: 3000, audioProfiles: [], progressive: true })]
    const { outputs, plan } = await encode(jobSpec({ container: 'ts', video: small, audio: [] }), clip)
    expect(plan.outputs[0]!.video).toMatchObject({ scan: 'progressive', deinterlace: 'frames', captions: true })
    expect(texts(await readCaptions(outputs[0]))).toEqual(texts(await readCaptions(clip)))
  })

  test('one frame per field keeps captions where ffmpeg can, and drops them otherwise', async (context) => {
    const clip = await fields(context)
    const twice = [
      videoProfile({ width: 240, height: 180, bitrateKbps: 3000, audioProfiles: [], frameRateFactor: '2x' }),
    ]
    const { outputs, plan } = await encode(jobSpec({ container: 'ts', video: twice, audio: [] }), clip)
    const able = (await testFfmpeg()).features.captionsAcrossRates
    expect(plan.outputs[0]!.video).toMatchObject({ deinterlace: 'fields', captions: able })
    if (able) expect(texts(await readCaptions(outputs[0]))).toEqual(texts(await readCaptions(clip)))
    else expect((await carriedCaptionChannels(outputs[0], 'h264')).pictures).toBe(0)
  })
})
