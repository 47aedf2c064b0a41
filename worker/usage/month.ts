// In charge of: the months of usage: calendar months in UTC.

/** Such as `2026-11`. */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}

/** The first millisecond of the following month. */
export function monthEnd(month: string): number {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return Date.UTC(year, number, 1)
}

export function previousMonth(month: string): string {
  return monthOf(Date.parse(`${month}-01T00:00:00Z`) - 1)
}
