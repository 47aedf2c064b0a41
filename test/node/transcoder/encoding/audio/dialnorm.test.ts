// The dialogue level of AC-3, read back from the header of what was written.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDialnorm } from '../../../../../transcoder/formats/ac3.ts'
import { ffmpeg, makeClip, workspace } from '../../../../support/media/media.ts'
import { job, rendition, track } from '../../../../support/transcoder/jobSpecs.ts'
import { encode } from '../../../../support/media/encodeJob.ts'
import { dialnormOf } from '../../../../support/media/audioSamples.ts'

let space: Awaited<ReturnType<typeof workspace>>
let plain = ''

beforeAll(async () => {
  space = await workspace()
  plain = await makeClip(space.file('plain.mp4'), { width: 64, height: 64, seconds: 1 })
})
afterAll(() => space[Symbol.asyncDispose]())

const video = [rendition({ width: 64, height: 64, bitrateKbps: 100 })]

async function dolby(codec: 'ac3' | 'eac3', channels: number, level: number): Promise<string> {
  const path = space.file(`${codec}_${channels}_${level}.ts`)
  const sound = ['-ac', `${channels}`, '-c:a', codec, '-b:a', '256k', '-dialnorm', `${-level}`]
  await ffmpeg(['-i', plain, '-c:v', 'copy', ...sound, path])
  return path
}

describe('a level that is asked for', () => {
  test.each([1, 5, 27, 31])('%i', async (dialnorm) => {
    const audio = [track({ codec: 'ac3', bitrateKbps: 192, dialnorm })]
    for (const container of ['mp4', 'ts'] as const) {
      const { outputs, plan } = await encode(job({ container, video, audio }), plain, space.path)
      expect(await dialnormOf(outputs[0])).toBe(dialnorm)
      expect(plan.warnings).toEqual([])
    }
  })
})

describe('0 is the source’s level', () => {
  test.each([
    ['ac3', 2, 24, 100, 24, []],
    ['ac3', 6, 20, 100, 20, []],
    ['eac3', 6, 18, 100, 18, []],
    ['eac3', 1, 31, 100, 31, []],
    ['ac3', 2, 24, 50, 30, ['dialnorm_shifted']],
    ['ac3', 2, 24, 200, 18, ['dialnorm_shifted']],
    ['ac3', 2, 28, 50, 31, ['dialnorm_clamped']],
    ['ac3', 2, 3, 200, 1, ['dialnorm_clamped']],
    ['ac3', 2, 24, 0, 24, []],
  ] as const)(
    '%s with %i channels and %i at volume %i: %i',
    async (codec, channels, level, audioVolume, out, codes) => {
      const audio = [track({ codec: 'ac3', bitrateKbps: 192 })]
      const { outputs, plan } = await encode(
        job({ video, audio, audioVolume }),
        await dolby(codec, channels, level),
        space.path,
      )
      expect(await dialnormOf(outputs[0])).toBe(out)
      expect(plan.warnings.map((warning) => warning.code)).toEqual(codes)
    },
  )

  test('and 31 with a warning where the source has none', async () => {
    const audio = [track({ codec: 'ac3', bitrateKbps: 192 })]
    const { outputs, plan } = await encode(job({ video, audio }), plain, space.path)
    expect(await dialnormOf(outputs[0])).toBe(31)
    expect(plan.warnings).toMatchObject([
      { code: 'dialnorm_not_in_source', field: 'audioProfiles[0].dolby_digital_dialnorm' },
    ])
  })
})

test('bytes that are no frame have no level', () => {
  expect(readDialnorm(new Uint8Array())).toBeNull()
  expect(readDialnorm(Uint8Array.of(0x0b, 0x77, 0, 0, 0, 0xff, 0, 0, 0))).toBeNull()
  expect(readDialnorm(new Uint8Array(5000).fill(0x0b))).toBeNull()
})
