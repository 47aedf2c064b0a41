// In charge of: formatting numbers with units for a terminal. Pure.
import type { EstimateRange } from '#contract/task/dryRunEstimate.ts'
import { BYTE_UNITS, formatScaled, significant } from '#contract/api/formatUnits.ts'

export { formatBytes, formatDollars, formatDuration } from '#contract/api/formatUnits.ts'

/** Both numbers in the unit of the total: "12.3 of 80 MB". */
export function formatBytesOf(part: number, whole: number): string {
  let [unit, factor] = [0, 1]
  while (whole / factor >= 999.5 && unit < BYTE_UNITS.length - 1) [unit, factor] = [unit + 1, factor * 1000]
  return `${significant(part / factor)} of ${significant(whole / factor)} ${BYTE_UNITS[unit]}`
}

/** From kbps: "800 kbps", "2.6 Mbps". */
export function formatBitrate(kbps: number): string {
  return formatScaled(kbps, ['kbps', 'Mbps', 'Gbps'])
}

/** In a fixed form, for a line that is redrawn: "0:07", "12:30", "1:02:30". */
export function formatCountdown(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const two = (value: number): string => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

/** "just now", "5 min ago", "3 h ago", "2 days ago", then the date. */
export function formatAgo(iso: string, now: number = Date.now()): string {
  const seconds = (now - Date.parse(iso)) / 1000
  if (Number.isNaN(seconds)) return iso
  if (seconds < 45) return 'just now'
  return seconds < 14 * 86_400 ? `${approximateDuration(seconds)} ago` : iso.slice(0, 10)
}

/** "in 3 h", "in 6 days"; "over" for times in the past. */
export function formatUntil(iso: string, now: number = Date.now()): string {
  const seconds = (Date.parse(iso) - now) / 1000
  if (Number.isNaN(seconds)) return iso
  return seconds <= 0 ? 'over' : `in ${approximateDuration(Math.max(seconds, 60))}`
}

function approximateDuration(seconds: number): string {
  if (seconds < 3570) return `${Math.max(1, Math.round(seconds / 60))} min`
  if (seconds < 84_600) return `${Math.round(seconds / 3600)} h`
  const days = Math.round(seconds / 86_400)
  return `${days} day${days === 1 ? '' : 's'}`
}

/** In the time zone of this machine: "2026-11-22 14:05". */
export function formatTime(iso: string): string {
  const date = new Date(iso)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** "about 12 MB (9 to 15 MB)". */
export function formatRange(value: EstimateRange | null, spell: (figure: number) => string): string {
  if (value === null) return 'unknown, because the source does not state its duration'
  const [low, likely, high] = [spell(value.low), spell(value.likely), spell(value.high)]
  if (low === high) return `about ${likely}`
  const [, amount, unit] = /^(\S+) (\S+)$/.exec(low) ?? []
  return `about ${likely} (${unit !== undefined && high.endsWith(` ${unit}`) ? amount : low} to ${high})`
}

/** "90", "90s", "45m", "12h" and "30d" as seconds. @throws Error for anything else */
export function parseSeconds(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? []
  if (count === undefined) throw new Error(`"${text}" is not a duration: write 90s, 45m, 12h or 30d.`)
  return Number(count) * { s: 1, m: 60, h: 3600, d: 86_400 }[unit || 's']!
}

/** "2000000", "500MB", "2GB" as bytes. @throws Error for anything else */
export function parseBytes(text: string): number {
  const [, count, unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?)\s?([kMGT]?)B?$/i.exec(text) ?? []
  if (count === undefined) throw new Error(`"${text}" is not a size: write 500MB or 2GB.`)
  return Math.round(Number(count) * 1000 ** ['', 'k', 'm', 'g', 't'].indexOf(unit.toLowerCase()))
}
