// In charge of: which ffmpeg can carry out a plan that was made for another one.
import { expect, test } from 'vitest'
import { ALL_FEATURES, type EngineFeatures } from '../../../../transcoder/plan/model/engineFeatures.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { fitsEngine, forEngine, withEngine } from '../../../../transcoder/plan/planEngine.ts'

const made = (features: EngineFeatures): Plan =>
  withEngine({ version: 3 } as Plan, { version: '7.0', build: 'ab12', features })
const without = (name: keyof EngineFeatures): EngineFeatures => ({ ...ALL_FEATURES, [name]: false })

test.each(['zscale', 'hevcCaptions', 'hevcMain10', 'captionsAcrossRates', 'severalCaptionMessages'] as const)(
  'a plan made with %s needs it; one made without does not mind it',
  (name) => {
    expect(fitsEngine(made(ALL_FEATURES), without(name))).toBe(false)
    expect(fitsEngine(made(without(name)), ALL_FEATURES)).toBe(true)
  },
)

test('the clock of the source has to be the same', () => {
  const later = { ...ALL_FEATURES, clockFromUsedStreams: true }
  expect([fitsEngine(made(ALL_FEATURES), later), fitsEngine(made(later), ALL_FEATURES)]).toEqual([false, false])
  expect(fitsEngine(made(later), later)).toBe(true)
})

test('a feature that this transcoder does not know is missing, and a plan without an engine fits', () => {
  const plan = made(ALL_FEATURES)
  plan.engine!.features['later'] = true
  expect(fitsEngine(plan, ALL_FEATURES)).toBe(false)
  plan.engine!.features['later'] = false
  expect(fitsEngine(plan, ALL_FEATURES)).toBe(true)
  expect(fitsEngine({ version: 3 } as Plan, without('zscale'))).toBe(true)
})

test('the option for captions is given to an encoder that has it, whatever the plan was made for', () => {
  const plan = { ...made(without('hevcCaptions')), hevcCaptionsOption: false }
  expect(forEngine(plan, ALL_FEATURES).hevcCaptionsOption).toBe(true)
})
