// In charge of: what a measured row is, and the table that a terminal shows.
// Not in charge of: the document (document.ts).

export interface Row {
  name: string
  ours: string
  baseline: string
  /** ours / baseline; null where the goal is a bound on its own. */
  ratio: number | null
  goal: string
  /** null = measured for information, without a goal. */
  met: boolean | null
}

export interface BenchOptions {
  /** How many interleaved runs or rounds; null = the row's own number. */
  runs: number | null
  /** The machine is used by others all the time: do not wait until it is quiet. */
  busy: boolean
  /** A line about what goes on or what was found, for people. */
  note: (line: string) => void
}

export type Benchmark = (options: BenchOptions) => Promise<Row[]>

export const TABLE_HEADER = ['what', 'ours', 'baseline', 'ratio', 'goal', ''] as const

/** A row whose goal is a ratio. */
export function ratioRow(
  name: string,
  [ours, baseline]: readonly [number, number],
  limit: number | null,
  unit: (value: number) => string,
): Row {
  const ratio = ours / baseline
  return {
    name,
    ours: unit(ours),
    baseline: unit(baseline),
    ratio,
    goal: limit === null ? '–' : `≤ ${limit} ×`,
    met: limit === null ? null : ratio <= limit,
  }
}

export function tableCells(row: Row): string[] {
  const verdict = row.met === null ? '–' : row.met ? 'ok' : 'short'
  return [
    row.name,
    row.ours,
    row.baseline,
    row.ratio === null ? '–' : row.ratio.toFixed(row.ratio < 0.1 ? 3 : 2),
    row.goal,
    verdict,
  ]
}

export function printTable(rows: readonly Row[]): string {
  const lines = [[...TABLE_HEADER], ...rows.map(tableCells)]
  const widths = TABLE_HEADER.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return `\n${lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')}`
}
