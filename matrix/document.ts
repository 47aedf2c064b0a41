// In charge of: docs/matrix.md: written from what was measured; a group that was not run stays as it is.
// Not in charge of: measuring (lab.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../scripts/local/settings.ts'
import { GROUPS, unavailable } from './groups.ts'
import type { Finding, Row } from './row.ts'
import { showValue } from './values.ts'

export const DOCUMENT = join(ROOT, 'docs', 'matrix.md')

export type Verdict = 'pass' | 'fail' | 'not available'
export interface Line {
  row: Row
  measured: string
  verdict: Verdict
}

export function lineOf(row: Row, finding: Finding | null): Line {
  if (finding === null) return { row, measured: '–', verdict: 'not available' }
  return { row, measured: finding.measured, verdict: finding.ok ? 'pass' : 'fail' }
}

const cell = (text: string) => text.replaceAll('\n', ' ').replaceAll('|', '\\|')
const code = (text: string) => `\`${cell(text)}\``

/** What identifies a row in the document: parameter, value, job and expectation. */
function keyCells(row: Row): string[] {
  const value = row.value === undefined ? 'absent' : code(showValue(row.value))
  const nothing = Object.keys(row.job).length === 0
  const from = row.source === undefined ? '' : ` of ${row.source}`
  const which = row.output === undefined ? '' : `, output ${row.output}`
  return [
    code(row.path),
    value,
    `${nothing ? 'the base job' : code(JSON.stringify(row.job))}${from}${which}`,
    cell(row.expected),
  ]
}

function table(lines: readonly Line[]): string {
  const head = ['parameter', 'value', 'job', 'expected', 'measured', '']
  const rows = lines.map(({ row, measured, verdict }) => [...keyCells(row), cell(measured), verdict])
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The beginning of each row's line, in the order of the document. */
export function expectedKeys(group: string): string[] {
  return GROUPS[group]!.map((row) => `| ${keyCells(row).join(' | ')} |`)
}

const headingOf = (group: string) => `\n## ${group}\n\n`
const LAST = '\n## Not available in this version\n\n'

/** The section of a group in a document; '' where there is none. */
export function sectionOf(text: string, group: string): string {
  const from = text.indexOf(headingOf(group))
  if (from < 0) return ''
  const end = text.indexOf('\n## ', from + 5)
  return text.slice(from + headingOf(group).length, end < 0 ? undefined : end).trimEnd()
}

export function lastSection(): string {
  const rows = unavailable().map(
    ({ path, value }) => `| ${code(path)} | ${typeof value === 'symbol' ? 'any' : code(showValue(value))} |`,
  )
  if (rows.length === 0) return 'Nothing.'
  return ['| parameter | value |', '| --- | --- |', ...rows].join('\n')
}

function count(sections: readonly string[], verdict: Verdict): number {
  return sections.join('\n').split(`| ${verdict} |\n`).length - 1
}

/** The whole document, with `measured` groups anew and the others as they were. */
export async function compose(engineVersion: string, measured: ReadonlyMap<string, readonly Line[]>): Promise<string> {
  const before = await readFile(DOCUMENT, 'utf8').catch(() => '')
  const sections = Object.keys(GROUPS).map((group) => {
    const lines = measured.get(group)
    return lines === undefined ? sectionOf(before, group) : `Measured with ffmpeg ${engineVersion}.\n\n${table(lines)}`
  })
  const closed = sections.map((section) => `${section}\n`)
  const waiting = count(closed, 'not available') + unavailable().length
  const counts = `**${count(closed, 'pass')} pass, ${count(closed, 'fail')} fail, ${waiting} not available in this version.**`
  const body = Object.keys(GROUPS).map((group, index) => `${headingOf(group)}${sections[index]}\n`)
  return `${PREFACE}\n${counts}\n${body.join('')}${LAST}${lastSection()}\n`
}

const PREFACE = `# What works: every value of every parameter

<!-- Written by \`npm run matrix\`; do not edit. -->

One row for each value of each parameter ([parameters](parameters.md)): every value that a list names, both of a flag, the
bounds and the default of a number, a text, and the empty text and null where they are allowed. Each job is validated,
planned and encoded by the code of the service, and the output is looked at by probing it, decoding its pictures and samples
or reading its packets; what is expected follows from the contract, never from ffmpeg's arguments. The sources are generated
(\`matrix/sources.ts\`). The base job makes an mp4 of 320 × 180 at 500 kbps in h.264, with aac of 128 kbps; a row shows what its
job has beside it, and after “of” the source where it is not \`plain\`.

Where a value's effect depends on the version of ffmpeg, the row says so. \`npm run matrix\` measures everything anew,
\`npm run matrix -- --only rate\` one group; a value without a row fails.
`
