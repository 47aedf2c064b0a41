// In charge of: a duration as text for people, for the command line and the dashboard.

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
