// In charge of: the few pieces that schemas are made of.

export type Schema = { description?: string; [name: string]: unknown }

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const text: Schema = { type: 'string' }
export const time: Schema = { type: 'string', format: 'date-time' }
export const count: Schema = { type: 'integer', minimum: 0 }
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

/** @param optional members that an answer may leave out */
export function answer<K extends string>(properties: Record<K, Schema>, optional: readonly NoInfer<K>[] = []): Schema {
  const required = (Object.keys(properties) as K[]).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required }
}
