// In charge of: when a run that writes nothing counts as one that still reads its source.
import { expect, test } from 'vitest'
import { SilentReading } from '../../../../transcoder/pipeline/silentReading.ts'
import type { ExtractsPlan, Plan } from '../../../../transcoder/plan/model/plan.ts'

const CHUNK: Plan['part'] = { kind: 'chunk', chunk: 1, from: 10, to: 20 }
const REST: Plan['part'] = { kind: 'rest' }
const STILLS = { frames: {} } as ExtractsPlan
const WAVEFORM = { frames: null } as ExtractsPlan

/** Answers before the first output, after it, and once no more is read. */
function answers(plan: Partial<Pick<Plan, 'part' | 'extracts'>>): boolean[] {
  let served = 1000
  const reading = new SilentReading({ cut: null, ...plan }, () => served)
  const before = reading.isReading()
  reading.onOutput(0.04)
  served += 1000
  return [before, reading.isReading(), reading.isReading()]
}

test.each<[name: string, plan: Parameters<typeof answers>[0], expected: boolean[]]>([
  ['a whole job writes all the time', {}, [false, false, false]],
  ['a chunk writes all the time from its first frame on', { part: CHUNK }, [true, false, false]],
  ['audio is written all the time', { part: REST, extracts: WAVEFORM }, [true, false, false]],
  ['between two stills of the rest nothing is written', { part: REST, extracts: STILLS }, [true, true, false]],
])('%s', (_name, plan, expected) => {
  expect(answers(plan)).toEqual(expected)
})
