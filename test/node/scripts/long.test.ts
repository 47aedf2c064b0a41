// In charge of: `npm run long`: what it lists is there, a name that is not there is refused, arguments and environment reach
// the program.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { LONG_PROGRAMS } from '../../../scripts/long/programs.ts'
import { LONG_GROUPS } from '../../support/longGroups.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

function long(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [join(ROOT, 'scripts/long.ts'), ...args], (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

test('every program and every group is listed', async () => {
  const { code, stdout } = await long()
  expect(code).toBe(0)
  for (const [name, { description }] of Object.entries(LONG_PROGRAMS))
    expect(stdout.split('\n').some((line) => line.startsWith(`  ${name} `) && line.endsWith(description))).toBe(true)
  expect(stdout).toContain(Object.keys(LONG_GROUPS).join(', '))
})

test('programs are files that there are, and have no name of a group', () => {
  for (const [name, { run }] of Object.entries(LONG_PROGRAMS)) {
    for (const path of run.filter((one) => one.endsWith('.ts'))) expect(existsSync(join(ROOT, path)), path).toBe(true)
    expect(LONG_GROUPS).not.toHaveProperty([name])
  }
})

test.each([[['nonsense']], [['video', 'nonsense']]])('%j is refused with the list', async (args) => {
  expect(await long(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('simulate') })
})

test('options reach the program, and its exit code comes back', async () => {
  const one = await long('simulate', '--seed', '3')
  expect(one).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1 seeds from 3, 0 violations/m) })
  expect(await long('simulate', '--seeds', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage') })
})
