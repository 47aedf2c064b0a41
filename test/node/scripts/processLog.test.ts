// In charge of: the rotation of log files while they are written.
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepNewestLogs, openProcessLog } from '../../../scripts/local/processes/processLog.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const temp = useTempDirectory()
const line = (n: number): string => `${String(n).padStart(9, '0')}\n`

async function filesOf(state: string): Promise<Record<string, string>> {
  const names = (await readdir(join(state, 'logs'))).toSorted()
  const texts = await Promise.all(names.map((name) => readFile(join(state, 'logs', name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index]!]))
}

test('a log that runs for long has a bounded number of files of a bounded size, and loses only the oldest lines', async () => {
  const state = join(temp.path, 'bounded')
  const { stream } = openProcessLog(state, 'worker', { maxBytes: 100, files: 3 })
  for (let n = 0; n < 1000; n++) stream.write(line(n))
  stream.end()
  await once(stream, 'finish')
  const files = await filesOf(state)
  expect(Object.keys(files)).toEqual(['worker.log', 'worker.log.1', 'worker.log.2'])
  for (const text of Object.values(files)) expect(text.length).toBeLessThanOrEqual(100)
  const kept = files['worker.log.2']! + files['worker.log.1']! + files['worker.log']!
  expect(kept).toBe(Array.from({ length: 30 }, (_, n) => line(970 + n)).join(''))
})

test('a restart appends, and no line is cut in two', async () => {
  const state = join(temp.path, 'appended')
  for (let start = 0; start < 3; start++) {
    const { stream } = openProcessLog(state, 'worker', { maxBytes: 45, files: 9 })
    // A chunk of a pipe may end within a line.
    for (const part of ['a'.repeat(30), `${'b'.repeat(30)}\n`, 'c\n']) stream.write(part)
    stream.end()
    await once(stream, 'finish')
  }
  const whole = Object.values(await filesOf(state)).flatMap((text) => text.split('\n').slice(0, -1))
  expect(whole.filter((text) => text !== 'c')).toEqual(Array.from({ length: 3 }, () => 'a'.repeat(30) + 'b'.repeat(30)))
})

test('a directory that cannot be written to loses lines, and nothing else', async () => {
  const state = join(temp.path, 'lost')
  const { path, stream } = openProcessLog(state, 'worker', { maxBytes: 100, files: 3 })
  // Not a permission: root may write everywhere.
  await mkdir(path)
  stream.write(line(1))
  await chmod(path, 0o700)
  stream.end()
  await once(stream, 'finish')
  expect(await readdir(path)).toEqual([])
})

test('of the files that each start adds, the newest stay', async () => {
  const directory = join(temp.path, 'wrangler')
  keepNewestLogs(directory, 2)
  await mkdir(directory)
  for (const day of [3, 1, 2]) await writeFile(join(directory, `wrangler-2026-01-0${day}.log`), '')
  keepNewestLogs(directory, 2)
  expect((await readdir(directory)).toSorted()).toEqual(['wrangler-2026-01-02.log', 'wrangler-2026-01-03.log'])
})
