// A sample of the matrix on divided jobs; `npm run long matrix -- --chunked` measures all rows.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDividedRunner, type DividedRunner } from '../../matrix/dividedRunner.ts'
import { GROUPS } from '../../matrix/groups.ts'
import { showValue } from '../../matrix/parameterValues.ts'

let runner: DividedRunner
beforeAll(async () => {
  runner = await openDividedRunner()
})
afterAll(() => runner[Symbol.asyncDispose]())

/** One row or two of each thing that a chunk has to do as the whole does, and some that one task makes. */
const CHOSEN: readonly [group: string, path: string, value: unknown, verdict: 'pass' | 'one task'][] = [
  ['rate', 'videoProfiles[].video_bitrate_mode', 'cbr', 'pass'],
  ['rate', 'videoProfiles[].video_bitrate_mode', 'vbr', 'pass'],
  ['rate', 'videoProfiles[].video_bitrate_mode', 'qvbr', 'pass'],
  ['rate', 'gop_length', 0.48, 'pass'],
  ['rate', 'videoProfiles[].video_framerate', '1/2x', 'pass'],
  ['scan', 'force_progressive', true, 'pass'],
  ['geometry', 'video_aspect_ratio', 'rotate_clockwise', 'pass'],
  ['logo', 'logo_opacity', 50, 'pass'],
  ['segmented', 'segmented_output_dash', true, 'pass'],
  ['extracts', 'stills[].count', 1, 'pass'],
  ['extracts', 'waveform.bits', '16', 'pass'],
  ['copy', 'video_codec', 'copy', 'one task'],
  ['scan', 'auto_detelecine_flag', true, 'one task'],
]

test.each(CHOSEN)('%s: %s %s', async (group, path, value, verdict) => {
  const row = GROUPS[group]!.find((each) => each.path === path && each.value === value)
  expect(row, `${path} ${showValue(value)}`).toBeDefined()
  const found = await runner.run(row!)
  expect(found, found.words).toMatchObject({ verdict })
})
