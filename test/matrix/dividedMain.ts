// In charge of: `npm run long matrix -- --chunked`: measures the rows on divided jobs and writes docs/internals/matrix/divided.md.
// Not in charge of: the rows (rows/), the format of the page (dividedDocument.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { testFfmpeg } from '../support/media/media.ts'
import { plainVersion } from './document.ts'
import { DIVIDED_PAGE, renderDivided } from './dividedDocument.ts'
import { openDividedRunner, type DividedFinding } from './dividedRunner.ts'
import { GROUPS } from './groups.ts'
import { showValue } from './parameterValues.ts'

/** Returns the exit code: 1 if a row fails. */
export async function measureDivided(groups: readonly string[], isDry: boolean): Promise<number> {
  const { version } = await testFfmpeg()
  console.log(`ffmpeg ${version}`)
  const measured = new Map<string, DividedFinding[]>()
  const failures: string[] = []
  await using runner = await openDividedRunner()
  for (const group of groups) {
    const findings: DividedFinding[] = []
    for (const row of GROUPS[group]!) {
      const found = await runner.run(row)
      const words = `${found.verdict}  ${row.path} ${showValue(row.value)}: ${found.words} (${(row.divided ?? row).expected})`
      if (found.verdict === 'fail') failures.push(words)
      console.log(words)
      findings.push(found)
    }
    measured.set(group, findings)
    // After each group: a run that is ended keeps what it measured.
    if (!isDry) {
      const before = await readFile(DIVIDED_PAGE, 'utf8').catch(() => '')
      await writeFile(DIVIDED_PAGE, renderDivided(before, plainVersion(version), measured))
    }
  }
  for (const words of failures) console.error(words)
  const all = [...measured.values()].flat()
  const verdicts = ['pass', 'fail', 'one task', 'nothing to divide'] as const
  console.log(
    verdicts.map((verdict) => `${all.filter((each) => each.verdict === verdict).length} ${verdict}`).join(', '),
  )
  return failures.length > 0 ? 1 : 0
}
