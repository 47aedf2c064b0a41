// Every regular expression of the shipped code is linear in its text, by recheck's analysis; what it cannot decide, or finds
// quadratic, stands in BOUNDED with the longest text that it meets, and is measured on that.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { check } from 'recheck'
import { parseSync } from 'rolldown/experimental'
import { expect, test } from 'vitest'
import { ROOT } from '../../../scripts/local/localSettings.ts'

interface Expression {
  source: string
  flags: string
}

/** Lines of ffmpeg (ffmpeg/run.ts). */
const LINE = 4096

/** The first characters of an expression, the longest text that it is used on, and the worst one of them: a text and what is repeated. */
const BOUNDED: readonly [begins: string, most: number, head: string, pump: string][] = [
  ['^\\[ashowinfo@f', LINE, '[ashowinfo@f0 @ ] [info] n:0 pts_time:1 ', 'chlayout:.'],
  ['incoming frame - w', LINE, '', 'incoming frame - w: 0 h: 0 t'],
  ['^\\[graph[ _]\\d+', LINE, '[graph 1_in_0:0 @ ] w:0 h:1 pixfmt:w', 'pt'],
  ['Connection (refused', 64 * 1024, '', 'End of file'],
  ['Codec \\(', 64 * 1024, '', 'Codec (F'],
  ['Format not on', 64 * 1024, '', "Protocol '"],
  ['\\bhttps?:', 64 * 1024, '', 'http://127.0.0.1'],
  ['\\b(?!file:', 64 * 1024, '', 'F+'],
  ['no container instance', 64 * 1024, '', 'max '],
  ['\\b(max-age|', 8 * 1024, '', 'max-age='],
  ['\\b[a-z][a-z0-9+.-]{1,20}', 64 * 1024, '', 'a+'],
  // Names of outputs.
  ['(?=\\.[^.]*$)', 1024, '', '.'],
]
/** CPU time for the longest text. */
const MOST_MS = 250

function expressionsOf(path: string, text: string): Expression[] {
  const found: Expression[] = []
  const walk = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return
    const { type, regex } = node as { type?: string; regex?: { pattern: string; flags: string } }
    if (type === 'Literal' && regex) found.push({ source: regex.pattern, flags: regex.flags })
    for (const each of Object.values(node)) walk(each)
  }
  walk(parseSync(path, text).program)
  return found
}

async function isProven({ source, flags }: Expression): Promise<boolean> {
  return (await check(source, flags.replace('v', 'u'), { timeout: 20_000 })).status === 'safe'
}

const paths = execFileSync('git', ['ls-files', 'cli', 'client', 'contract', 'transcoder', 'worker'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))

test('every expression is linear, or is used on short texts', { timeout: 20 * 60_000 }, async () => {
  const all = new Map<string, Expression>()
  for (const path of paths)
    for (const each of expressionsOf(path, readFileSync(join(ROOT, path), 'utf8')))
      all.set(`/${each.source}/${each.flags}`, each)
  expect(all.size).toBeGreaterThan(300)
  const doubtful: string[] = []
  for (const [name, each] of all)
    if (!BOUNDED.some(([begins]) => each.source.startsWith(begins)) && !(await isProven(each))) doubtful.push(name)
  expect(doubtful).toEqual([])
  for (const [begins, most, head, pump] of BOUNDED) {
    const each = [...all.values()].find(({ source }) => source.startsWith(begins))
    expect(each, begins).toBeDefined()
    const text = `${head}${pump.repeat(most / pump.length)}\n`
    const began = process.cpuUsage()
    text.replaceAll(new RegExp(each!.source, [...new Set(`${each!.flags}g`)].join('')), '')
    const { user, system } = process.cpuUsage(began)
    expect((user + system) / 1000, begins).toBeLessThan(MOST_MS)
  }
})

test('a quadratic expression is found', async () => {
  const [planted] = expressionsOf('a.ts', 'export const NAME = /<([^<>]+)([^<>]*)>/')
  expect(await isProven(planted!)).toBe(false)
})
