// In charge of: the rows of measured values, and printing them as a table.
// Not in charge of: the document (document.ts).

export interface Row {
  name: string
  ours: string
  baseline: string
  /** The service relative to the baseline; null if the goal is an absolute limit. */
  ratio: number | null
  goal: string
  /** null = measured for information, without a goal. */
  goalMet: boolean | null
}

export interface BenchOptions {
  /** Number of alternating runs or rounds; null = the row's default. */
  runs: number | null
  /** The machine is always busy: do not wait until it is idle. */
  busy: boolean
  /** A short form of the row, to see that it works: its figures mean little. Rows without one ignore it. */
  quick: boolean
  /** Prints a line about progress or results, for people. */
  note: (line: string) => void
}

export type Benchmark = (options: BenchOptions) => Promise<Row[]>

export const TABLE_HEADER = ['what', 'ours', 'baseline', 'ratio', 'goal', ''] as const

/** A row with a ratio as its goal. */
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
    goalMet: limit === null ? null : ratio <= limit,
  }
}

export function tableCells(row: Row): string[] {
  const result = row.goalMet === null ? '–' : row.goalMet ? 'ok' : 'short'
  return [
    row.name,
    row.ours,
    row.baseline,
    row.ratio === null ? '–' : row.ratio.toFixed(row.ratio < 0.1 ? 3 : 2),
    row.goal,
    result,
  ]
}

export function printTable(rows: readonly Row[]): string {
  const lines = [[...TABLE_HEADER], ...rows.map(tableCells)]
  const widths = TABLE_HEADER.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return `\n${lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')}`
}
