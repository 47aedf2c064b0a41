// In charge of: durations measured in these tests, printed at their end. Nothing depends on them.
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    times: string
  }
}

interface Time {
  what: string
  seconds: number
}

export async function recordTiming(what: string, milliseconds: number): Promise<void> {
  await appendFile(inject('times'), `${JSON.stringify({ what, seconds: milliseconds / 1000 })}\n`)
}

/** Runs before the first file of these tests and after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'splicepoint-times-'))
  const path = join(directory, 'times')
  project.provide('times', path)
  return async () => {
    const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
    await rm(directory, { recursive: true, force: true })
    if (lines.length > 0) console.log(table(lines.map((line) => JSON.parse(line) as Time)))
  }
}

function table(times: Time[]): string {
  const rows = [...Map.groupBy(times, ({ what }) => what)].map(([what, all]) => {
    const seconds = all.map((each) => each.seconds).toSorted((a, b) => a - b)
    const figures = [seconds[0]!, seconds[Math.floor(seconds.length / 2)]!, seconds.at(-1)!]
    return [what, String(seconds.length), ...figures.map((value) => value.toFixed(2))]
  })
  const head = ['seconds', 'n', 'least', 'median', 'most']
  const widths = head.map((_name, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)))
  const line = (row: string[]): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  ')
  return `\n${[head, ...rows].map(line).join('\n')}\n`
}
