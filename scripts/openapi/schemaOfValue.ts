// In charge of: deriving a schema from example values of a function.
import * as z from 'zod'

/**
 * null means a number that is not set. A member that is absent in some of the values is optional. An empty list is a
 * list of numbers, like all lists of plain values here.
 */
export function like(...values: unknown[]): z.ZodType {
  const [value] = values
  if (values.every(Array.isArray)) {
    const items = values.flat() as unknown[]
    return z.array(items.length > 0 ? like(...items) : z.number())
  }
  if (value === null) return z.number().nullable()
  if (typeof value === 'string') return z.string()
  if (typeof value === 'boolean') return z.boolean()
  if (typeof value !== 'object') return z.number()
  const objects = values as Record<string, unknown>[]
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))]
  return z.object(
    Object.fromEntries(
      names.map((name) => {
        const made = like(...objects.flatMap((one) => (name in one ? [one[name]] : [])))
        return [name, objects.every((one) => name in one) ? made : made.exactOptional()]
      }),
    ),
  )
}
