// In charge of: the served OpenAPI document: which operation an address belongs to, and what the document says about
// it.
// Not in charge of: what is sent (generators/request.ts), checking answers (responseRules.ts).
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

export type JsonSchema = { [name: string]: any }

export interface OperationSpec {
  /** `GET /api/v0/job/{id}` */
  name: string
  method: string
  path: string
  secured: boolean
  /** The scope that the key must have; null = no key. */
  scope: 'jobs' | 'admin' | null
  parameters: { name: string; in: 'path' | 'query' | 'header'; schema: JsonSchema }[]
  /** Content type and schema of the request body. */
  body: { type: string; schema: JsonSchema; example: unknown; required: boolean } | null
  responses: Record<string, { content?: Record<string, { schema: JsonSchema; examples?: Record<string, unknown> }> }>
}

export class OpenapiDocument {
  readonly operations: OperationSpec[]
  readonly #json: JsonSchema
  readonly #ajv: Ajv2020
  readonly #validators = new Map<JsonSchema, ValidateFunction>()

  constructor(json: JsonSchema) {
    this.#json = json
    this.#ajv = new Ajv2020({ strict: false, strictNumbers: true, allErrors: true })
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(json, 'doc')
    this.operations = Object.entries<JsonSchema>(json['paths']).flatMap(([path, methods]) =>
      Object.entries<JsonSchema>(methods).map(([method, one]) => {
        const [type, media] = Object.entries<JsonSchema>(one['requestBody']?.content ?? {})[0] ?? []
        const secured = one['security'].length > 0
        return {
          name: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          secured,
          scope: secured ? (one['description'].includes('the scope admin') ? 'admin' : 'jobs') : null,
          parameters: one['parameters'],
          body:
            type === undefined || media === undefined
              ? null
              : {
                  type,
                  schema: media['schema'],
                  example: media['example'],
                  required: one['requestBody'].required === true,
                },
          responses: one['responses'],
        } satisfies OperationSpec
      }),
    )
  }

  static async operation(base: string): Promise<OpenapiDocument> {
    return new OpenapiDocument((await (await fetch(`${base}/openapi.json`)).json()) as JsonSchema)
  }

  resolve(schema: JsonSchema): JsonSchema {
    const place: unknown = schema['$ref']
    if (typeof place !== 'string') return schema
    return place
      .replace(/^#\//, '')
      .split('/')
      .reduce<JsonSchema>((at, name) => at[name], this.#json)
  }

  /** Schema violations of a value; [] = none. The schema is one of the document's own. */
  schemaErrors(schema: JsonSchema, value: unknown): string[] {
    let validate = this.#validators.get(schema)
    if (!validate) {
      validate = this.#ajv.compile(absolute(schema) as JsonSchema)
      this.#validators.set(schema, validate)
    }
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message }) => `${instancePath.replaceAll(/\d+/g, '#')} ${message}`,
    )
  }

  /**
   * The operations that match an address: `is` as written, `mayBe` only after decoding or without its trailing slash,
   * which a server may do or not. HEAD is GET without the body.
   */
  schemaAt(method: string, target: string): { is: OperationSpec[]; mayBe: OperationSpec[] } {
    const [written = '', decoded = written] = pathsOf(target)
    const asked = method === 'HEAD' ? ['HEAD', 'GET'] : [method]
    const of = (path: string) => this.operations.filter((one) => asked.includes(one.method) && matches(one.path, path))
    const is = of(written)
    const loosely = of(decoded.replace(/(.)\/+$/, '$1'))
    return { is, mayBe: loosely.filter((one) => !is.includes(one)) }
  }

  /** Whether any operation matches this address. */
  hasOperation(target: string): boolean {
    const paths = pathsOf(target).flatMap((path) => [path, path.replace(/(.)\/+$/, '$1')])
    return this.operations.some((one) => paths.some((path) => matches(one.path, path)))
  }
}

/** Makes references of a part of the document absolute, so that they work outside it. */
function absolute(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(absolute)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) =>
      name === '$ref' && typeof each === 'string' ? [name, `doc${each}`] : [name, absolute(each)],
    ),
  )
}

/** The path as a server sees it (WHATWG URL: dot segments removed), and with percent-encoding decoded. */
export function pathsOf(target: string): string[] {
  const path = URL.parse(target.startsWith('//') ? `http://host${target}` : target, 'http://host')?.pathname
  if (path === undefined) return []
  try {
    return [path, decodeURIComponent(path)]
  } catch {
    return [path]
  }
}

function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{(\w+)\}/g, (_, name) => {
    return name === 'path' ? '.+' : '[^/]+'
  })
  return new RegExp(`^${pattern}$`, 's').test(path)
}
