// In charge of: the report: a document for programs, lines for people, and whether something is wrong.
// Not in charge of: the checks.
import type { Check, CheckStatus } from '#contract/api/diagnosis.ts'
import { stripControlCharacters } from '../cliErrors.ts'

export interface Report {
  /** No check failed. Warnings do not count. */
  ok: boolean
  address: string
  at: string
  sections: Record<string, Check[]>
}

const STATUS_LABELS: Readonly<Record<CheckStatus, string>> = {
  ok: 'ok',
  warning: 'WARNING',
  fault: 'FAULT',
  skipped: '-',
}

const count = (checks: readonly Check[], verdict: CheckStatus): number =>
  checks.filter((one) => one.verdict === verdict).length

export function makeReport(address: string, sections: Record<string, Check[]>): Report {
  return { ok: count(Object.values(sections).flat(), 'fault') === 0, address, at: new Date().toISOString(), sections }
}

export function reportText({ address, sections }: Report): string {
  const lines = [`Service at ${address}`]
  for (const [title, checks] of Object.entries(sections)) {
    lines.push('', title)
    const width = Math.max(...checks.map(({ name }) => name.length))
    for (const { name, verdict, message, remedy } of checks) {
      lines.push(`  ${STATUS_LABELS[verdict].padEnd(7)}  ${name.padEnd(width)}  ${message}`)
      if (remedy !== null && verdict !== 'ok') lines.push(`  ${''.padEnd(7)}  ${''.padEnd(width)}  -> ${remedy}`)
    }
  }
  const all = Object.values(sections).flat()
  const plural = (verdict: CheckStatus): string =>
    `${count(all, verdict)} ${verdict}${count(all, verdict) === 1 ? '' : 's'}`
  lines.push('', `${plural('fault')}, ${plural('warning')}, ${count(all, 'ok')} ok.`)
  return stripControlCharacters(lines.join('\n'))
}
