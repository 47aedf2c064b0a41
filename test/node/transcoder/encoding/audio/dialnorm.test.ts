// The dialogue level of AC-3, read from the header of the output.
// Not in charge of: a level that is asked for (matrix/rows/audio.ts).
import { beforeAll, describe, expect, test } from 'vitest'
import { readAc3Header } from '../../../../../transcoder/formats/ac3.ts'
import { ffmpeg, makeClip } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { streamDialnorm } from '../../../../support/media/audioSamples.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { sampled } from '../../../../support/longForm.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
let plain = ''

beforeAll(async () => {
  plain = await makeClip(tempDir.file('plain.mp4'), { width: 64, height: 64, seconds: 1 })
})

const video = [videoProfile({ width: 64, height: 64, bitrateKbps: 100 })]

async function dolby(codec: 'ac3' | 'eac3', channels: number, level: number): Promise<string> {
  const path = tempDir.file(`${codec}_${channels}_${level}.ts`)
  const audioTrack = ['-ac', `${channels}`, '-c:a', codec, '-b:a', '256k', '-dialnorm', `${-level}`]
  await ffmpeg(['-i', plain, '-c:v', 'copy', ...audioTrack, path])
  return path
}

describe('0 is the source’s level', () => {
  test.each(
    sampled(
      [
        ['ac3', 2, 24, 100, 24, []],
        ['ac3', 6, 20, 100, 20, []],
        ['eac3', 6, 18, 100, 18, []],
        ['eac3', 1, 31, 100, 31, []],
        ['ac3', 2, 24, 50, 30, ['dialnorm_shifted']],
        ['ac3', 2, 24, 200, 18, ['dialnorm_shifted']],
        ['ac3', 2, 28, 50, 31, ['dialnorm_clamped']],
        ['ac3', 2, 3, 200, 1, ['dialnorm_clamped']],
        ['ac3', 2, 24, 0, 24, []],
      ] as const,
      3,
    ),
  )('%s with %i channels and %i at volume %i: %i', async (codec, channels, level, audioVolume, out, codes) => {
    const audio = [audioProfile({ codec: 'ac3', bitrateKbps: 192 })]
    const { outputs, plan } = await encode(jobSpec({ video, audio, audioVolume }), await dolby(codec, channels, level))
    expect(await streamDialnorm(outputs[0])).toBe(out)
    expect(plan.warnings.map((warning) => warning.code)).toEqual(codes)
  })

  test('and 31 with a warning where the source has none', async () => {
    const audio = [audioProfile({ codec: 'ac3', bitrateKbps: 192 })]
    const { outputs, plan } = await encode(jobSpec({ video, audio }), plain)
    expect(await streamDialnorm(outputs[0])).toBe(31)
    expect(plan.warnings).toMatchObject([
      { code: 'dialnorm_not_in_source', field: 'audioProfiles[0].dolby_digital_dialnorm' },
    ])
  })
})

test('bytes that are no frame have no level', () => {
  expect(readAc3Header(new Uint8Array())).toBeNull()
  expect(readAc3Header(Uint8Array.of(0x0b, 0x77, 0, 0, 0, 0xff, 0, 0, 0))).toBeNull()
  expect(readAc3Header(new Uint8Array(5000).fill(0x0b))).toBeNull()
})
