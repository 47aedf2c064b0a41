// In charge of: small schemas that the schemas of answers share.
import * as z from 'zod'

/** ISO 8601, in UTC. */
export const time = z.iso.datetime()
export const id = z.int().min(1)
export const count = z.int().min(0)

/**
 * A copy of a schema with descriptions of its members by path (`audio.channels`; lists and null add nothing to the
 * path). Schemas that validate at run time have no descriptions, which keeps them out of the Worker's bundle.
 * @throws Error for a path that is not a member
 */
export function described<S extends z.core.$ZodType>(schema: S, texts: Readonly<Record<string, string>>): S {
  const unused = new Set(Object.keys(texts))
  const copy = copyOf(schema, '', (path) => (unused.delete(path) ? texts[path] : undefined))
  if (unused.size > 0) throw new Error(`There is no ${[...unused].join(', ')}.`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a copy of the same shape
  return copy as S
}

interface Def {
  shape?: Record<string, z.core.$ZodType>
  innerType?: z.core.$ZodType
  element?: z.core.$ZodType
}

function copyOf(schema: z.core.$ZodType, path: string, textOf: (path: string) => string | undefined): z.core.$ZodType {
  const description = textOf(path)
  const { shape, innerType, element } = schema._zod.def as Def
  const inside = (each: z.core.$ZodType) => copyOf(each, path, textOf)
  const parts: Def = {
    ...(innerType && { innerType: inside(innerType) }),
    ...(element && { element: inside(element) }),
    ...(shape && {
      shape: Object.fromEntries(
        Object.entries(shape).map(([name, each]) => [
          name,
          copyOf(each, path === '' ? name : `${path}.${name}`, textOf),
        ]),
      ),
    }),
  }
  const copy = z.core.clone(schema, { ...schema._zod.def, ...parts })
  if (description !== undefined) z.globalRegistry.add(copy, { description })
  return copy
}
