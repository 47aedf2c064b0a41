// In charge of: small helpers for schemas.

export type Schema = { description?: string; [name: string]: unknown }

export const schemaRef = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const stringSchema: Schema = { type: 'string' }
export const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

/**
 * `type: ["integer", "null"]` for a number, a flag or plain text that may be null: clients handle it better than
 * `anyOf`.
 */
export function foldNull(schema: Schema): void {
  const [one, other, ...more] = (schema['anyOf'] ?? []) as (Schema | undefined)[]
  if (one === undefined || other?.['type'] !== 'null' || more.length > 0) return
  const { type, ...rest } = one
  if (!isPlain(type) || 'enum' in rest || 'format' in rest) return
  delete schema['anyOf']
  Object.assign(schema, { type: [type, 'null'], ...rest })
}

const isPlain = (type: unknown): boolean => ['string', 'number', 'integer', 'boolean'].some((plain) => plain === type)
