// In charge of: the usage of the last months, as bars and as the table that they are drawn from.
import { useEffect, useState } from 'preact/hooks'
import type { UsageLine } from '#contract/api/usage.ts'
import type { UsageItem } from '#contract/usage/items.ts'
import { formatDuration } from '../text/format.ts'

const MONTHS = 12
/** Of a month, in percent of the width. */
const STEP = 100 / MONTHS
/** Pixels. */
const [HEIGHT, FOOT] = [120, 20] as const

const shortName = (month: string): string =>
  new Date(`${month}-15`).toLocaleDateString('en', { month: 'short', timeZone: 'UTC' })

export const sumOf = (lines: readonly UsageLine[], item: UsageItem, ofClass?: string): number =>
  lines
    .filter((line) => line.item === item && (ofClass === undefined || line.class === ofClass))
    .reduce((total, { quantity }) => total + quantity, 0)

interface HistoryProps {
  /** The newest first. */
  months: readonly string[]
  linesOf: (month: string) => Promise<readonly UsageLine[]>
}

export function History({ months, linesOf }: HistoryProps) {
  const [all, setAll] = useState<readonly (readonly [month: string, lines: readonly UsageLine[]])[]>([])
  useEffect(() => {
    let isCurrent = true
    Promise.all(months.slice(0, MONTHS).map(async (month) => [month, await linesOf(month)] as const)).then(
      (read) => isCurrent && setAll(read),
      // The chosen month is shown without the others.
      () => undefined,
    )
    return () => void (isCurrent = false)
  }, [months.join(' ')])
  if (all.length < 2) return null
  const hours = all.map(([, lines]) => sumOf(lines, 'output_hours'))
  const most = Math.max(...hours, Number.MIN_VALUE)
  return (
    <section class="card stack">
      <h2 id="history">Output by month</h2>
      <svg class="chart" width="100%" height={HEIGHT + FOOT} aria-hidden="true">
        {all.map(([month], index) => {
          const height = ((hours[index] ?? 0) / most) * HEIGHT
          const left = 100 - STEP * (index + 1)
          return (
            <g key={month}>
              <rect x={`${left + 1}%`} y={HEIGHT - height} width={`${STEP - 2}%`} height={height} rx={3} />
              <text x={`${left + STEP / 2}%`} y={HEIGHT + FOOT - 4} text-anchor="middle">
                {shortName(month)}
              </text>
            </g>
          )
        })}
        <line x2="100%" y1={HEIGHT} y2={HEIGHT} />
      </svg>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby="history">
        <table>
          <thead>
            <tr>
              {['Month', 'Jobs', 'Source', 'Output', 'CPU time'].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.map(([month, lines]) => (
              <tr key={month}>
                <th scope="row">{month}</th>
                <td>{sumOf(lines, 'jobs', 'completed')}</td>
                {(['source_hours', 'output_hours', 'cpu_hours'] as const).map((item) => (
                  <td key={item}>{formatDuration(sumOf(lines, item) * 3600)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
