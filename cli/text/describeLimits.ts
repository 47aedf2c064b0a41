// In charge of: the limits of the service as text, one line for each value.
import { stripControlCharacters } from '../cliErrors.ts'
import { keyValueLines } from './terminal.ts'
import { formatBytes } from './formatUnits.ts'

export function limitsText(limits: object, width: number | null): string {
  return keyValueLines(rowsOf('', limits), width ?? Infinity)
}

function rowsOf(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) {
    return value.every((each) => typeof each !== 'object')
      ? [[name, value.join(', ') || 'none']]
      : value.flatMap((each: Record<string, unknown>) => rowsOf(nameOf(name, each), withoutSize(each)))
  }
  if (typeof value !== 'object' || value === null) return [[name, shown(name, value)]]
  const { minimum, maximum, ...rest } = value as Record<string, unknown>
  const isRange = typeof minimum === 'number' && typeof maximum === 'number'
  return [
    ...(isRange ? [[name, `${minimum} to ${maximum}`] as [string, string]] : []),
    ...Object.entries(isRange ? rest : value).flatMap(([key, each]) =>
      rowsOf(name === '' ? key : `${name}.${key}`, each),
    ),
  ]
}

function withoutSize({ width: _width, height: _height, ...rest }: Record<string, unknown>): object {
  return rest
}

/** The name of a value in a list of sizes. */
function nameOf(name: string, { width, height }: Record<string, unknown>): string {
  return `${name}.${String(width)}x${String(height)}`
}

function shown(name: string, value: unknown): string {
  if (value === null) return 'no limit'
  if (typeof value === 'number' && /bytes(\.|$)/.test(name) && value >= 10_000)
    return `${formatBytes(value)} (${value})`
  return stripControlCharacters(typeof value === 'string' ? value : JSON.stringify(value))
}
