// In charge of: the report: a document for programs, lines for people, and whether something is wrong.
// Not in charge of: the checks.
import type { Check, CheckStatus } from '#contract/api/diagnosis.ts'
import { stripControlCharacters } from '../cliErrors.ts'
import type { JobTimings } from './runTestJob.ts'
import { THRESHOLDS } from './thresholds.ts'

export interface Report {
  /** No check failed. Warnings do not count. */
  ok: boolean
  /** null = only a configuration was checked. */
  address: string | null
  at: string
  sections: Record<string, Check[]>
  figures: Record<string, number>
  jobs: JobTimings[]
}

const STATUS_LABELS: Readonly<Record<CheckStatus, string>> = {
  ok: 'ok',
  warning: 'WARNING',
  fault: 'FAULT',
  skipped: '-',
}

const count = (checks: readonly Check[], verdict: CheckStatus): number =>
  checks.filter((one) => one.verdict === verdict).length

/** A warning for each figure above its threshold. */
export function checkThresholds(figures: Readonly<Record<string, number>>): Check[] {
  return THRESHOLDS.flatMap(({ figure, maximum, description, remedy }): Check[] => {
    const value = figures[figure]
    if (value === undefined || value <= maximum) return []
    const message = `${description}: ${figure} is ${round(value)}, above ${maximum}.`
    return [{ name: figure, verdict: 'warning', message, remedy, milliseconds: null }]
  })
}

export function makeReport(parts: Omit<Report, 'ok' | 'at'>): Report {
  const all = Object.values(parts.sections).flat()
  return { ok: count(all, 'fault') === 0, at: new Date().toISOString(), ...parts }
}

const round = (value: number): number => Math.round(value * 100) / 100

export function reportText({ address, sections, figures, jobs }: Report): string {
  const lines = [address === null ? 'Configuration only: give an address to check a service.' : `Service at ${address}`]
  for (const [title, checks] of Object.entries(sections)) {
    if (checks.length === 0) continue
    lines.push('', title)
    const width = Math.max(...checks.map(({ name }) => name.length))
    for (const { name, verdict, message, remedy } of checks) {
      lines.push(`  ${STATUS_LABELS[verdict].padEnd(7)}  ${name.padEnd(width)}  ${message}`)
      if (remedy !== null && verdict !== 'ok') lines.push(`  ${''.padEnd(7)}  ${''.padEnd(width)}  -> ${remedy}`)
    }
  }
  if (jobs.length > 0) lines.push('', 'Phases in seconds', ...jobLines(jobs))
  const known = Object.entries(figures)
  if (known.length > 0) {
    lines.push('', 'Figures')
    const width = Math.max(...known.map(([name]) => name.length))
    for (const [name, value] of known) lines.push(`  ${name.padEnd(width)}  ${round(value)}`)
  }
  const all = Object.values(sections).flat()
  const [faults, warnings] = [count(all, 'fault'), count(all, 'warning')]
  const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`
  lines.push('', `${plural(faults, 'fault')}, ${plural(warnings, 'warning')}, ${count(all, 'ok')} ok.`)
  return stripControlCharacters(lines.join('\n'))
}

function jobLines(jobs: readonly JobTimings[]): string[] {
  const columns = ['start', 'probe', 'encode', 'commit', 'total'] as const
  const width = Math.max(...jobs.map(({ name }) => name.length), 4)
  const head = `  ${'job'.padEnd(width)}  slot  attempt  ${columns.map((name) => name.padStart(7)).join('')}`
  return [
    head,
    ...jobs.map((job) => {
      const cells = columns.map((name) => {
        const value = job.seconds[name]
        return (value === null ? '-' : value.toFixed(1)).padStart(7)
      })
      return `  ${job.name.padEnd(width)}  ${String(job.slot ?? '-').padStart(4)}  ${String(job.attempt ?? '-').padStart(7)}  ${cells.join('')}`
    }),
  ]
}
