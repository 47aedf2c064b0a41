// In charge of: stills on the command line of `submit`: `every=10,width=320,format=webp`.
// Not in charge of: their values, which the service validates.
import { UsageError } from '../cliErrors.ts'

/** Names on the command line → fields of an element of `stills`, and whether the value is a number. */
const FIELDS: Readonly<Record<string, { field: string; isNumber: boolean }>> = {
  at: { field: 'at_seconds', isNumber: false },
  every: { field: 'every_seconds', isNumber: true },
  count: { field: 'count', isNumber: true },
  width: { field: 'width', isNumber: true },
  height: { field: 'height', isNumber: true },
  format: { field: 'format', isNumber: false },
  quality: { field: 'quality', isNumber: true },
  output: { field: 'output', isNumber: false },
}
const NUMBER = /^\d{1,9}(\.\d{1,9})?$/

/** One element of `stills`. Several times are written `at=12.5,at=00:01:00`. @throws UsageError */
export function readStillsArgument(text: string): Record<string, unknown> {
  const refuse = (why: string) =>
    new UsageError(`--stills ${text}: ${why}. Write for example every=10,width=320 or count=12 or at=12.5.`)
  const element: Record<string, unknown> = {}
  for (const pair of text.split(',')) {
    const [name = '', ...rest] = pair.split('=')
    const value = rest.join('=')
    const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
    if (known === undefined) throw refuse(`${pair} is none of ${Object.keys(FIELDS).join(', ')}`)
    const { field, isNumber } = known
    if (value === '' || (isNumber && !NUMBER.test(value)))
      throw refuse(`${pair} has no ${isNumber ? 'number' : 'value'}`)
    const isTime = name === 'at' && NUMBER.test(value)
    const read = isNumber || isTime ? Number(value) : value
    const before = element[field]
    if (before === undefined) element[field] = read
    else if (name === 'at') element[field] = Array.isArray(before) ? [...(before as unknown[]), read] : [before, read]
    else throw refuse(`${name} stands there twice`)
  }
  return element
}
