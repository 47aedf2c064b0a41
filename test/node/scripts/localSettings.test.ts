// In charge of: settings of `npm start` that are numbers: defaults, limits, and the error that names the setting.
import { expect, test } from 'vitest'
import { readSettings } from '../../../scripts/local/localSettings.ts'

test('DRAIN_SECONDS is 5 unless set, and a wrong value is refused by name', () => {
  expect(readSettings({}).drainSeconds).toBe(5)
  expect(readSettings({ DRAIN_SECONDS: '0' }).drainSeconds).toBe(0)
  expect(readSettings({ DRAIN_SECONDS: '900' }).drainSeconds).toBe(900)
  for (const wrong of ['-1', '1.5', '86401', 'long'])
    expect(() => readSettings({ DRAIN_SECONDS: wrong })).toThrow(
      `DRAIN_SECONDS must be a whole number from 0 to 86400, not "${wrong}".`,
    )
})

test('settings of the Worker are passed on as they are, and a wrong value is refused by name', () => {
  expect(readSettings({}).workerVariables).toEqual({})
  const right = { DIVIDE_ABOVE_SECONDS: 'off', KEEP_OUTPUTS_DAYS: '365' }
  expect(readSettings(right).workerVariables).toEqual(right)
  expect(() => readSettings({ DIVIDE_ABOVE_SECONDS: '0' })).toThrow('DIVIDE_ABOVE_SECONDS must be a whole number of at')
})

test.each([
  ['LOG_LEVEL', 'loud', 'debug, info, warn, error'],
  ['LOG_MAX_BYTES', '10', 'a whole number from 1000 to 1000000000000'],
  ['LOG_FILES', '0', 'a whole number from 1 to 100'],
])('%s = %s is refused by name', (name, wrong, expected) => {
  expect(() => readSettings({ [name]: wrong })).toThrow(`${name} must be ${expected}, not "${wrong}".`)
  expect(readSettings({})).toMatchObject({ logLevel: 'info', logLimits: { maxBytes: 20 * 1024 * 1024, files: 5 } })
})
