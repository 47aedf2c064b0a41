// In charge of: durations, sizes, rates and prices as text for people, for the command line and the dashboard.

/** Seconds as "45 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds)
  if (seconds < 10 && seconds !== whole) return `${Number(seconds.toFixed(1))} s`
  if (whole < 60) return `${whole} s`
  const parts = (big: number, bigName: string, small: number, smallName: string): string =>
    small === 0 ? `${big} ${bigName}` : `${big} ${bigName} ${small} ${smallName}`
  if (whole < 3600) return parts(Math.floor(whole / 60), 'min', whole % 60, 's')
  const minutes = Math.round(whole / 60)
  if (minutes < 1440) return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(minutes / 60)
  return parts(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

export const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** Decimal units, at most three digits: "12.3 MB". */
export function formatBytes(count: number): string {
  return formatScaled(count, BYTE_UNITS)
}

/** In the largest unit that leaves no number below 1. Each unit is a thousand of the unit before. */
export function formatScaled(count: number, units: readonly string[]): string {
  let [value, unit] = [count, 0]
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1]
  return `${significant(value)} ${units[unit]}`
}

/** At most three digits. */
export function significant(value: number): string {
  return String(Number(value.toFixed(value >= 99.5 ? 0 : value >= 9.95 ? 1 : 2)))
}

export function formatDollars(amount: number): string {
  return amount < 0.01 ? `$${Number(amount.toPrecision(2))}` : `$${amount.toFixed(2)}`
}
