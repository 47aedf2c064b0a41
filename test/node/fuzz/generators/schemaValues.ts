// In charge of: values that match a JSON schema, at its bounds, and values that violate it.
// Not in charge of: invalid JSON (jsonText.ts).
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { OpenapiDocument, JsonSchema } from '../apiDocument.ts'

/** Texts that some part of a service may misinterpret. */
export const ODD_TEXTS = [
  ['', ' ', '\0', 'a\0b', '\r\nX-Injected: 1', '\u202efdp.exe', '\ud800', '\udfff\ud800', '😀', '\ufeff', 'null'],
  ['../../etc/passwd', '..\\..\\a', '/', '//', '.', '..', 'a/../b', '%00', '%2e%2e%2f', '%', '~', 'C:\\a', 'a\tb'],
  ['0', '-1', '1e3', '1e999', '0x10', '007', '1.5', ' 1', '1 ', '９', 'true', 'NaN', '[object Object]', '__proto__'],
  ['http://', 'http://127.0.0.1/', 'http://[::1]/', 'http://user:pw@host/', 'file:///etc/passwd', 'javascript:1'],
  ['s3://', 's3://bucket/key', 'gs://b/k', 'data:,a', "' OR 1=1 --", '<script>1</script>', '${7*7}', '{{7*7}}'],
].flat()

const long = fc.constantFrom(80, 100, 101, 200, 255, 256, 1024, 1025, 4096, 4097, 16_384, 16_385, 70_000)

export const oddText: Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...ODD_TEXTS), weight: 6 },
  { arbitrary: fc.tuple(long, fc.constantFrom('a', 'é', '😀', '/', '%')).map(([n, of]) => of.repeat(n)), weight: 1 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 30 }), weight: 2 },
)

export const oddNumber: Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, -1, 1, 0.1, 1.5, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53, -(2 ** 53), 1e21, 1e308, 5e-324),
  fc.integer({ min: -10_000, max: 10_000 }),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
)

export const oddValue: Arbitrary<unknown> = fc.oneof(
  { arbitrary: oddText, weight: 4 },
  { arbitrary: oddNumber, weight: 4 },
  { arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], { a: 1 }, [1, 'a', {}]), weight: 3 },
  { arbitrary: fc.constantFrom(100, 1001, 20_001).map((n) => Array.from({ length: n }, () => 0)), weight: 1 },
)

/** By schema, because a job's schema takes seconds to build and stands in several places of the document. */
const known = new WeakMap<JsonSchema, Arbitrary<unknown>>()

/** A value that matches the schema, often at its bounds. */
export function valueOf(document: OpenapiDocument, given: JsonSchema): Arbitrary<unknown> {
  const schema = document.resolve(given)
  const values = known.get(schema) ?? newValueOf(document, schema)
  known.set(schema, values)
  return values
}

function newValueOf(document: OpenapiDocument, schema: JsonSchema): Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum'])
  if (Array.isArray(schema['anyOf'])) return fc.oneof(...schema['anyOf'].map((each) => valueOf(document, each)))
  const types: unknown[] = [schema['type']].flat()
  const kinds = types.map((type): Arbitrary<unknown> => {
    switch (type) {
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'string':
        return textOf(schema, types.includes('number') || types.includes('integer'))
      case 'integer':
      case 'number':
        return numberOf(schema, type === 'integer')
      case 'array':
        if (Array.isArray(schema['prefixItems']))
          return fc.tuple(...schema['prefixItems'].map((each) => valueOf(document, each)))
        return fc.array(valueOf(document, schema['items'] ?? {}), {
          minLength: schema['minItems'] ?? 0,
          maxLength: Math.min(schema['maxItems'] ?? 3, (schema['minItems'] ?? 0) + 3),
        })
      case 'object':
        return objectOf(document, schema)
      default:
        return oddValue
    }
  })
  return fc.oneof(...kinds)
}

function objectOf(document: OpenapiDocument, schema: JsonSchema): Arbitrary<unknown> {
  const properties: [string, JsonSchema][] = Object.entries(schema['properties'] ?? {})
  return fc.record(Object.fromEntries(properties.map(([name, each]) => [name, valueOf(document, each)])), {
    requiredKeys: (schema['required'] ?? []) as string[],
    noNullPrototype: true,
  })
}

function textOf(schema: JsonSchema, mayBeNumber: boolean): Arbitrary<string> {
  const { minLength: least = 0, maxLength: most = 64, pattern, format } = schema
  // Before the pattern, so that a generated time exists.
  if (format === 'date-time')
    return fc
      .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
  if (typeof pattern === 'string') return textMatching(pattern, most)
  if (mayBeNumber) return numberOf(schema, false).map(String)
  const words = ['a', 'film.mp4', 'out/film.ts', 's3://bucket/a.mp4', 'https://example.com/a.mp4', 'é😀', 'a b', '1']
  return fc.oneof(
    { arbitrary: fc.constantFrom(...words.filter((word) => word.length >= least && word.length <= most)), weight: 6 },
    { arbitrary: fc.string({ minLength: least, maxLength: Math.min(most, 40), unit: 'grapheme' }), weight: 2 },
    { arbitrary: fc.constantFrom(least, most).map((length) => 'a'.repeat(length)), weight: 1 },
  )
}

/** By pattern and length: fast-check enumerates the characters of a negated class, a million of them. */
const matching = new Map<string, Arbitrary<string>>()

function textMatching(pattern: string, maxLength: number): Arbitrary<string> {
  const key = `${maxLength} ${pattern}`
  const texts = matching.get(key) ?? fc.stringMatching(new RegExp(pattern, 'u'), { maxLength })
  matching.set(key, texts)
  return texts
}

function numberOf(schema: JsonSchema, whole: boolean): Arbitrary<number> {
  const least: number = schema['minimum'] ?? (schema['exclusiveMinimum'] ?? 0) + (whole ? 1 : 0.01)
  const most: number = Math.max(schema['maximum'] ?? 100_000, least)
  const [low, high] = [Math.ceil(least), Math.floor(most)]
  const bounds = [least, most, ...[least + 1, most - 1].filter((value) => value >= least && value <= most)]
  const between = low <= high ? fc.integer({ min: low, max: high }) : fc.constant(least)
  return fc.oneof(
    fc.constantFrom(...bounds),
    between,
    ...(whole ? [] : [fc.double({ min: least, max: most, noNaN: true }).map((value) => Number(value.toFixed(3)))]),
  )
}

/** Values around the bounds of a schema: the last valid and the first invalid one. */
export function edgesOf(document: OpenapiDocument, given: JsonSchema): unknown[] {
  const schema = document.resolve(given)
  const found: unknown[] = []
  for (const name of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']) {
    const bound: unknown = schema[name]
    if (typeof bound === 'number') found.push(bound - 1, bound - 0.5, bound, bound + 0.5, bound + 1, String(bound))
  }
  for (const name of ['minLength', 'maxLength']) {
    const bound: unknown = schema[name]
    if (typeof bound === 'number' && bound < 20_000)
      found.push(...[bound - 1, bound, bound + 1].filter((n) => n >= 0).map((n) => 'a'.repeat(n)), '😀'.repeat(bound))
  }
  for (const name of ['minItems', 'maxItems']) {
    const bound: unknown = schema[name]
    if (typeof bound === 'number')
      found.push(...[bound - 1, bound + 1].filter((n) => n >= 0).map((n) => Array.from({ length: n }, () => ({}))))
  }
  if (Array.isArray(schema['enum'])) found.push(...schema['enum'], `${String(schema['enum'][0])} `, '')
  return found
}
