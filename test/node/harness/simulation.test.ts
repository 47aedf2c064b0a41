// In charge of: the short form of the simulation, and checking its checker: bugs are planted in a copy of the source,
// and each must be found.
// Not in charge of: the long form (npm run long simulate -- --seeds 100000).
import { execFile } from 'node:child_process'
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLANTED } from '../../simulation/plantedBugs.ts'
import { LONG_FORM, sampled } from '../../support/longForm.ts'
import { ROOT } from '../../support/service.ts'

const MAIN = join(ROOT, 'test/simulation/main.ts')
const run = promisify(execFile)

interface Result {
  code: number
  text: string
}

async function simulate(...args: string[]): Promise<Result> {
  try {
    return { code: 0, text: (await run(process.execPath, [MAIN, ...args])).stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, text: stdout + stderr }
  }
}

test('no invariant is broken', async () => {
  const seeds = LONG_FORM ? 1000 : 60
  const { code, text } = await simulate('--seeds', String(seeds))
  expect(text).toContain(`${seeds} seeds from 1, 0 violations`)
  expect(code).toBe(0)
})

test('each message five times, each post three times: one result for each job (I11)', async () => {
  const { text } = await simulate('--repeat', '--seeds', '40')
  expect(text).toMatch(/40 seeds from 1, 0 violations, 160 jobs, \d{3} attempts, 160 results/)
})

test('a seed is the same world each time', async () => {
  const first = await simulate('--seed', '17', '--trace')
  const second = await simulate('--seed', '17', '--trace')
  const events = ({ text }: Result) => text.split('\n').slice(0, -2)
  expect(events(first).length).toBeGreaterThan(5)
  expect(events(second)).toEqual(events(first))
})

describe('a planted bug is found', () => {
  let copy: string
  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'splicepoint-planted-'))
    for (const directory of ['contract', 'worker', 'migrations'])
      await cp(join(ROOT, directory), join(copy, directory), { recursive: true })
    const { type, imports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<string, unknown>
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    await writeFile(join(copy, 'package.json'), JSON.stringify({ type, imports }))
  })
  afterAll(() => rm(copy, { recursive: true, force: true }))

  test('without one the copy is found to be good', async () => {
    expect(await simulate('--source', copy, '--seeds', '20')).toMatchObject({ code: 0 })
  })

  test('each patch applies to one place', async () => {
    for (const { file, find } of PLANTED)
      expect((await readFile(join(copy, file), 'utf8')).split(find), `${file} has lost "${find}"`).toHaveLength(2)
  })

  test.each(sampled(PLANTED, 5))('$name', async ({ file, find, replaceWith, from = 1, seeds, finds }) => {
    const path = join(copy, file)
    const good = await readFile(path, 'utf8')
    try {
      await writeFile(
        path,
        good.replace(find, () => replaceWith),
      )
      const range = ['--from', String(from), '--seeds', String(seeds)]
      const { code, text } = await simulate('--source', copy, ...range)
      expect(text).toMatch(finds)
      expect(text).toMatch(/npm run long simulate -- --seed \d+ --trace/)
      expect(code).toBe(1)
    } finally {
      await writeFile(path, good)
    }
  })
})
