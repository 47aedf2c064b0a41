// In charge of: docs/internals/matrix/divided.md: which rows were measured on divided jobs, and why the others were not; the section of
// a group that was not run stays unchanged.
// Not in charge of: measuring (dividedRunner.ts), the rows' own pages (document.ts).
import { anchorsOf, titleOf, pagePath } from './document.ts'
import type { DividedFinding } from './dividedRunner.ts'
import { GROUPS } from './groups.ts'
import { showValue } from './parameterValues.ts'
import type { Row } from './row.ts'

export const DIVIDED_PAGE = pagePath('divided')

/** `before`: the page as it is. */
export function renderDivided(
  before: string,
  engineVersion: string,
  measured: ReadonlyMap<string, readonly DividedFinding[]>,
): string {
  const old = sectionsOf(before)
  const sections = Object.keys(GROUPS).flatMap((group) => {
    const findings = measured.get(group)
    const body = findings === undefined ? old.get(titleOf(group)) : sectionOf(group, engineVersion, findings)
    return body === undefined ? [] : [`## ${titleOf(group)}\n\n${body}`]
  })
  return `${PREFACE}\n${sections.join('\n\n')}\n`
}

/** By title. */
function sectionsOf(page: string): Map<string, string> {
  const parts = page.split(/^## /m).slice(1)
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n')).trim()]))
}

function sectionOf(group: string, engineVersion: string, findings: readonly DividedFinding[]): string {
  const rows = GROUPS[group]!
  const anchors = anchorsOf(rows)
  const links = (isWanted: (index: number) => boolean): string =>
    rows
      .flatMap(({ path, value }, index) => {
        const shown = value === undefined ? '' : ` ${showValue(value)}`
        return isWanted(index) ? [`[\`${path}${shown}\`](${group}.md#${anchors[index]!})`.replaceAll('|', '\\|')] : []
      })
      .join(', ')
  const count = (verdict: DividedFinding['verdict']): number =>
    findings.filter((found) => found.verdict === verdict).length
  const counts = `${count('pass')} pass, ${count('fail')} fail, ${count('one task')} by one task, ${count('nothing to divide')} without outputs`
  const kinds = findings.map((found, index) => kindOf(found, rows[index]!))
  const table = [...new Set(kinds)]
    .filter((kind) => kind !== null)
    .map((kind) => `| ${kind.replaceAll('|', '\\|')} | ${links((index) => kinds[index] === kind)} |`)
  const head = table.length === 0 ? [] : ['', '| | rows |', '| --- | --- |', ...table]
  return [`Measured with ffmpeg ${engineVersion}: ${counts}.`, ...head].join('\n')
}

/** The row of the table; null = nothing is said about it. */
function kindOf({ verdict, words }: DividedFinding, { divided }: Row): string | null {
  switch (verdict) {
    case 'pass':
      return divided === undefined ? 'divided' : `divided, where the row says instead: ${divided.expected}`
    case 'fail':
      return `fails: ${words}`
    case 'one task':
      return `one task, because ${words}`
    case 'nothing to divide':
      return null
  }
}

const PREFACE = `# Measured values: divided jobs

<!-- Written by \`npm run long matrix -- --chunked\`; do not edit. -->

The rows of [measured values](../matrix.md) again, each made as a [divided job](../divided-jobs.md) and held against the same expectation. The
clips last a few seconds, so chunks are single segments here, and segments are single GOPs, shorter than a job may ask for. For clips of less
than a second, GOPs last 0.1 s, and the clip of one frame has six. Jobs of stills, previews and waveforms make a video, too.

"By one task": [not divided](../divided-jobs.md#what-is-not-divided), or divided and then made by the last attempt as a whole, because its chunks
did not fit together. "Without outputs": a test elsewhere, a refused job, a stored configuration, or a plan.
`
