// In charge of: values that several parts of a plan have, within limits.
import * as z from 'zod/mini'

export const count = z.number().check(z.int(), z.gte(0), z.lte(1e15))
export const amount = z.number().check(z.gte(0), z.lte(1e15))
/** null = not stated. */
export const seconds = z.nullable(amount)
export const rational = z.object({ num: z.number().check(z.gte(0)), den: z.number().check(z.positive()) })
/** A name from ffmpeg: of a codec, a colour matrix, a transfer function. */
export const word = z.string().check(z.regex(/^[A-Za-z0-9_.-]{0,40}$/))
/** Relative, below the job's destination. */
export const path = z.string().check(z.maxLength(1024))
export const contentType = z.string().check(z.maxLength(100))
/** Position in `videoProfiles` or `audioProfiles`. */
export const profile = z.number().check(z.int(), z.gte(0), z.lte(15))
/** Pixels. */
export const size = z.object({ width: count, height: count })
export const rectangle = z.extend(size, { x: count, y: count })

/** A member with forms that only plans derived from the stored one have: `schema` knows the others. */
export function alsoDerived<T>(schema: z.ZodMiniType<Partial<T>>): z.ZodMiniType<T> {
  return schema as never
}

/** A member that only plans derived from the stored one have, as that of a part; missing in every other. */
export function derived<T>(): z.ZodMiniOptional<z.ZodMiniType<T>> {
  return z.optional(z.undefined()) as never
}
