// In charge of: the pages of the API reference on the documentation's site: the OpenAPI document in Markdown, a page for each
// resource, one for what all operations share, and one for the members of bodies and answers.
// Not in charge of: where the pages stand and how they look (docs/.vitepress/).
import { introduction } from './introduction.ts'
import { requestSchemas } from './requestSchemas.ts'
import type { Schema } from './schemaParts.ts'
import { groupsOf, type Shown, type ShownDocument, type ShownOperation } from './shownDocument.ts'

export interface ReferencePage {
  name: string
  title: string
  text: string
}

const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
const fileOf = (resource: string): string => resource.toLowerCase()

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``
const code = (value: unknown): string =>
  typeof value === 'string' ? fence('', value.trimEnd()) : fence('json', JSON.stringify(value, null, 2))

/** Text outside of code, in a cell: the pages that it names are links. */
const prose = (text: string): string =>
  text
    .replaceAll(/`?\bdocs\/((?:internals\/)?([\w-]+)\.md)`?/g, '[$2](../$1)')
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '&lt;')))
    .join('')
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const table = (heads: string[], rows: string[][]): string =>
  [heads, heads.map(() => '---'), ...rows.map((row) => row.map(cell))].map((row) => `| ${row.join(' | ')} |`).join('\n')

function refLink(reference: string): string {
  const name = reference.split('/').at(-1)!
  if (!Object.hasOwn(requestSchemas, name)) return `[${name}](objects.md#${anchor(name)})`
  return `[${name}](../parameters.md)`
}

function kind(schema: Schema): string {
  const { $ref, type, enum: values, const: one, items, anyOf }: { [name: string]: any } = schema
  if ($ref !== undefined) return refLink(String($ref))
  if (Array.isArray(anyOf)) return anyOf.map((each) => kind(each as Schema)).join(' or ')
  if (one !== undefined) return `\`${JSON.stringify(one)}\``
  if (Array.isArray(values)) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  if (items !== undefined) return `list of ${kind(items as Schema)}`
  return [type ?? 'any'].flat().join(' or ')
}

function range({ minimum, maximum, exclusiveMinimum, default: fallback }: Schema): string[] {
  const given = { 'at least': minimum, above: exclusiveMinimum, 'at most': maximum, default: fallback }
  return Object.entries(given).flatMap(([words, value]) =>
    value === undefined ? [] : [`${words} \`${JSON.stringify(value)}\``],
  )
}

/** What a value may be, and what it means. */
const meaning = (schema: Schema): string =>
  [[kind(schema), ...range(schema)].join(', '), ...(schema.description ? [prose(schema.description)] : [])].join('. ')

function members(schema: Schema): string {
  const required = (schema['required'] ?? []) as string[]
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
  if (properties.length === 0) return kind(schema)
  return table(
    ['member', 'value'],
    properties.map(([name, each]) => [`\`${name}\`${required.includes(name) ? ' (required)' : ''}`, meaning(each)]),
  )
}

interface ErrorExample {
  error: { code: string; message: string; advice: string; docs: string }
}

/** Errors by code, with their status. */
function errorsOf(one: ShownOperation): Map<string, { status: string; error: ErrorExample['error'] }> {
  return new Map(
    Object.entries(one.responses).flatMap(([status, { content }]) =>
      Object.entries(content?.['application/json']?.examples ?? {}).map(
        ([name, { value }]) => [name, { status, error: (value as ErrorExample).error }] as const,
      ),
    ),
  )
}

function errorTable(errors: ReturnType<typeof errorsOf>): string {
  const rows = [...errors].map(([name, { status, error }]) => [
    `${status} [\`${name}\`](../troubleshooting.md#${error.docs.split('#')[1]})`,
    prose(error.advice),
  ])
  return table(['error', 'what to do'], rows)
}

function bodyText(one: ShownOperation, { components }: ShownDocument): string[] {
  return Object.entries(one.requestBody?.content ?? {}).flatMap(([type, { schema }]) => {
    const name = (schema['$ref'] as string | undefined)?.split('/').at(-1)
    const optional = one.requestBody!.required ? '' : ', optional'
    if (name === undefined) return [`**Body** (\`${type}\`${optional})`]
    if (Object.hasOwn(requestSchemas, name))
      return [`**Body** (\`${type}\`${optional}): every member is in [parameters](../parameters.md).`]
    return [`**Body** (\`${type}\`${optional})`, members(components.schemas[name]!)]
  })
}

/** The answers that are no errors, in words and as examples. */
function answersOf(one: ShownOperation): { words: string[]; examples: string[] } {
  const good = Object.entries(one.responses).filter(([status]) => Number(status) < 400)
  const words = good.map(([status, { description, content }]) => {
    const types = Object.entries(content ?? {}).map(([type, { schema }]) =>
      schema['$ref'] === undefined ? `\`${type}\`` : `${kind(schema)} (\`${type}\`)`,
    )
    const said = description === one.summary ? [] : [prose(description)]
    return `- \`${status}\`: ${[...said, ...(types.length > 0 ? types : ['no body'])].join('; ')}`
  })
  const examples = good.flatMap(([status, { content }]) =>
    Object.values(content ?? {}).flatMap(({ example }) =>
      example === undefined ? [] : [`Answer \`${status}\``, code(example)],
    ),
  )
  return { words, examples }
}

function operationText({ method, path, one }: Shown, document: ShownDocument, shared: ReadonlySet<string>): string {
  const errors = errorsOf(one)
  const own = new Map([...errors].filter(([name]) => !shared.has(name)))
  const common = [...errors.keys()].filter((name) => shared.has(name)).map((name) => `\`${name}\``)
  const parameters = one.parameters.map((each) => [
    `\`${each.name}\` (${each.in}${each.required === true ? ', required' : ''})`,
    meaning(each.schema),
  ])
  const { words, examples } = answersOf(one)
  return [
    `## ${one.summary}`,
    '<div class="operation"><div>',
    `**\`${method.toUpperCase()} ${path}\`**`,
    prose(one.description),
    ...(parameters.length > 0 ? ['**Parameters**', table(['parameter', 'value'], parameters)] : []),
    ...bodyText(one, document),
    '**Answers**',
    words.join('\n'),
    '**Errors**',
    ...(own.size > 0 ? [errorTable(own)] : []),
    `${own.size > 0 ? 'And those' : 'Those'} [of every operation](index.md#errors-of-every-operation): ${common.join(', ')}.`,
    '</div><div class="examples">',
    fence('sh', one['x-codeSamples'][0]!.source),
    ...examples,
    '</div></div>',
  ].join('\n\n')
}

/** Codes that every operation with a key may answer. */
function sharedErrors(operations: readonly Shown[]): ReturnType<typeof errorsOf> {
  const [first, ...others] = operations.filter(({ one }) => one.security.length > 0).map(({ one }) => errorsOf(one))
  return new Map([...first!].filter(([name]) => others.every((errors) => errors.has(name))))
}

export function referencePages(openapi: Schema): ReferencePage[] {
  const document = openapi as unknown as ShownDocument
  const groups = groupsOf(document)
  const common = sharedErrors(groups.flatMap(({ list }) => list))
  const names = new Set(common.keys())
  const resources = groups.map(({ name, description, list }) => ({
    name: fileOf(name),
    title: name,
    text: [`# ${name}`, description, ...list.map((each) => operationText(each, document, names))].join('\n\n'),
  }))
  const start = [
    '# API reference',
    'Every operation by resource: purpose, parameters, a request, the answer, and errors with what to do. It is made of the OpenAPI document that the service serves at `/openapi.json`; at its `/docs`, you can send the requests from the page.',
    'The commands run as they stand in a shell that has their variables:',
    fence('sh', 'export BASE=https://transcode.example.com KEY=sp_… SPLICEPOINT_ADMIN_KEY=… JOB=1 UPLOAD=1'),
    ...introduction.flatMap(({ title, text, code: lines }) => [
      `## ${title}`,
      ...text.map(prose),
      ...(lines === undefined ? [] : [fence(lines.startsWith('{') ? 'json' : 'sh', lines)]),
    ]),
    '## Errors of every operation',
    errorTable(common),
    ...groups.flatMap(({ name, list }) => [
      `## ${name}`,
      table(
        ['request', 'what it does'],
        list.map(({ method, path, one }) => [
          `\`${method.toUpperCase()} ${path}\``,
          `[${one.summary}](${fileOf(name)}.md#${anchor(one.summary)})`,
        ]),
      ),
    ]),
  ]
  const objects = Object.entries(document.components.schemas).filter(([name]) => !Object.hasOwn(requestSchemas, name))
  const objectTexts = objects.map(([name, schema]) => `## ${name}\n\n${members(schema)}`)
  return [
    { name: 'index', title: 'API reference', text: start.join('\n\n') },
    ...resources,
    {
      name: 'objects',
      title: 'Objects',
      text: [
        '# Objects',
        'The members of bodies and answers, by the names of the OpenAPI document.',
        ...objectTexts,
      ].join('\n\n'),
    },
  ]
}
