// In charge of: converting JSON Schema to TypeScript types, for programs that do not use zod.
// Not in charge of: which schemas are converted (generateReference.ts: the request; contractTypes.ts: the rest of the
// contract).
import type { Schema } from '../openapi/schemaParts.ts'

type Node = Schema & {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Node[]
  oneOf?: Node[]
  items?: Node
  properties?: Record<string, Node>
  required?: string[]
  additionalProperties?: Node | boolean
  $ref?: string
}

/** A declaration of the exported `name`. */
export function typeDeclaration(name: string, schema: Schema, nameOf: (ref: string) => string = lastElement): string {
  return `export interface ${name} ${bodyOf(schema, '', nameOf)}\n`
}

/** The same for an object that has most members of `base`: only what differs is written. */
export function derivedDeclaration(name: string, schema: Schema, baseName: string, base: Schema): string {
  const [own, known] = [membersOf(schema, '', lastElement), membersOf(base, '', lastElement)]
  const changed = [...own].filter(([member, text]) => known.get(member) !== text)
  const left = [...known].flatMap(([member, text]) => (own.get(member) === text ? [] : [`'${member}'`]))
  const lines = changed.map(([, text]) => text)
  return `export interface ${name} extends Omit<${baseName}, ${left.join(' | ')}> {\n${lines.join('')}}\n`
}

const lastElement = (ref: string): string => ref.split('/').at(-1) ?? ref

function bodyOf(schema: Node, indent: string, nameOf: (ref: string) => string): string {
  return `{\n${[...membersOf(schema, indent, nameOf).values()].join('')}${indent}}`
}

/** Optional members may also be undefined, so that an object can be built member by member. */
function membersOf(
  { properties = {}, required = [] }: Node,
  indent: string,
  nameOf: (ref: string) => string,
): Map<string, string> {
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, member]): [string, string] => {
    const optional = required.includes(name) ? '' : '?'
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
    const type = typeOf(member, inner, nameOf)
    const text = `${commentOf(member, inner)}${inner}${key}${optional}: ${type}${optional && type !== 'unknown' ? ' | undefined' : ''}\n`
    return [name, text]
  })
  return new Map(lines)
}

function commentOf({ description, default: fallback }: Node, indent: string): string {
  const text = [description, fallback === undefined ? undefined : `Default: ${JSON.stringify(fallback)}.`]
  const told = text.filter((each) => each !== undefined && each !== '').join(' ')
  return told === '' ? '' : `${indent}/** ${told.replaceAll('*/', '* /')} */\n`
}

function typeOf(schema: Node, indent: string, nameOf: (ref: string) => string): string {
  const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal))
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) {
    const types = alternatives.flatMap((each) => typeOf(each, indent, nameOf).split(' | '))
    // A value that is already covered by a type in the same union.
    const isImplied = (type: string): boolean =>
      (types.includes('number') && /^-?\d+$/.test(type)) || (types.includes('string') && type.startsWith("'"))
    return union(types.filter((each) => !isImplied(each)))
  }
  return union([schema.type ?? []].flat().map((type) => typeNamed(type, schema, indent, nameOf))) || 'unknown'
}

function typeNamed(type: string, schema: Node, indent: string, nameOf: (ref: string) => string): string {
  switch (type) {
    case 'integer':
      return 'number'
    case 'array': {
      const item = schema.items ? typeOf(schema.items, indent, nameOf) : 'unknown'
      return /[ {]/.test(item) ? `(${item})[]` : `${item}[]`
    }
    case 'object': {
      if (schema.properties) return bodyOf(schema, indent, nameOf)
      const { additionalProperties: other } = schema
      return `Record<string, ${typeof other === 'object' ? typeOf(other, indent, nameOf) : 'unknown'}>`
    }
    default:
      return type
  }
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : String(value)
}
