// Gating blocks that are counted in stretches (ITU-R BS.1770); no ffmpeg.
import { describe, expect, test } from 'vitest'
import { countLevels, integratedLufs, joinLevels } from '../../../../transcoder/plan/audio/loudnessLevels.ts'

const blocks = (lufs: number, count: number) => Array.from({ length: count }, () => lufs)
const loudness = (...momentary: number[][]) => integratedLufs(countLevels(momentary.flat(), null))

describe('gates', () => {
  test('blocks below −70 LUFS do not count, also for the relative gate', () => {
    expect(loudness(blocks(-30, 10), blocks(-71, 1000), blocks(-120.691, 3))).toBe(-30)
    // With them, the gate would be so low that the quiet blocks count.
    expect(loudness(blocks(-20, 10), blocks(-40, 10), blocks(-120, 100_000))).toBe(-20)
    expect(loudness(blocks(-70.01, 9))).toBeNull()
    expect(loudness()).toBeNull()
  })

  test('neither do blocks that are 10 LU below the mean of the others', () => {
    // The mean of both is −22.9, the gate at −32.9.
    expect(loudness(blocks(-20, 100), blocks(-33, 100))).toBe(-20)
    expect(loudness(blocks(-20, 100), blocks(-32, 100))).toBe(-22.7)
  })
})

test('stretches add up to the whole, however it is divided, and the highest peak is that of the whole', () => {
  const whole = Array.from({ length: 5000 }, (_, index) => -75 + ((index * 7919) % 6103) / 100)
  const counted = countLevels(whole, -1)
  for (const [at, next] of [
    [1, 4999],
    [1667, 3333],
    [2500, 2500],
  ] as const) {
    const stretches = [whole.slice(0, at), whole.slice(at, next), whole.slice(next)]
    const joined = joinLevels(stretches.map((each, index) => countLevels(each, [-3, -1, null][index]!)))
    expect(joined).toEqual(counted)
    expect(integratedLufs(joined)).toBe(integratedLufs(counted))
  }
  expect(joinLevels([countLevels([], null)])).toEqual({ steps: [], blocks: [], truePeakDb: null })
})
