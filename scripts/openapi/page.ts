// In charge of: the page /docs: the OpenAPI document for people, without a script and without any other host.
import type { Schema } from './schemas.ts'

interface Shown {
  summary: string
  security: unknown[]
  parameters: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
}

interface Document {
  info: { title: string; description: string }
  paths: Record<string, Record<string, Shown>>
  components: { schemas: Record<string, Schema> }
}

export const referenceStyle = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:0 auto;padding:1rem}
code,pre{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
pre{overflow-x:auto;padding:1rem;border:1px solid GrayText}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .5rem;border-bottom:1px solid GrayText}
`

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Few words for a schema; another schema is a link to it. */
function kind(schema: Schema): string {
  const { $ref, type, enum: values, items, anyOf }: { [name: string]: any } = schema
  if ($ref !== undefined) {
    const name = escape(String($ref).split('/').at(-1) ?? '')
    return `<a href="#${name}">${name}</a>`
  }
  if (Array.isArray(anyOf)) return anyOf.map((one) => kind(one as Schema)).join(' or ')
  if (Array.isArray(values)) return values.map((value) => `<code>${escape(JSON.stringify(value))}</code>`).join(' ')
  if (items !== undefined) return `list of ${kind(items as Schema)}`
  return escape([type ?? 'any'].flat().join(' or '))
}

const rows = (cells: string[][]): string =>
  cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')

function operation(method: string, path: string, one: Shown): string {
  const bodies = Object.entries(one.requestBody?.content ?? {})
  const parameters = one.parameters.map((each) => [
    `<code>${escape(each.name)}</code>`,
    each.in,
    `${kind(each.schema)} ${escape(each.schema.description ?? '')}`,
  ])
  const answers = Object.entries(one.responses).map(([status, { description, content }]) => [
    status,
    escape(description),
    Object.entries(content ?? {})
      .map(([type, { schema }]) => `${escape(type)} ${kind(schema)}`)
      .join(', '),
  ])
  return `<h3><code>${method.toUpperCase()} ${escape(path)}</code></h3>
<p>${escape(one.summary)}${one.security.length === 0 ? '. No key needed' : ''}.</p>
${parameters.length > 0 ? `<table><tr><th>parameter</th><th>in</th><th></th></tr>${rows(parameters)}</table>` : ''}
${bodies.map(([type, { schema, example }]) => `<p>Body: ${escape(type)} ${kind(schema)}</p>${example === undefined ? '' : `<pre tabindex="0">${escape(JSON.stringify(example, null, 2))}</pre>`}`).join('\n')}
<table><tr><th>status</th><th>when</th><th>body</th></tr>${rows(answers)}</table>`
}

function schema(name: string, one: Schema): string {
  const required = (one['required'] ?? []) as string[]
  const members = Object.entries((one['properties'] ?? {}) as Record<string, Schema>).map(([id, each]) => [
    `<code>${escape(id)}</code>${required.includes(id) ? ' *' : ''}`,
    kind(each),
    escape(each.description ?? ''),
  ])
  return `<h3 id="${escape(name)}">${escape(name)}</h3>
<table><tr><th>member</th><th>kind</th><th>meaning</th></tr>${rows(members)}</table>`
}

export function referencePage(document: Schema): string {
  const { info, paths, components } = document as unknown as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => operation(method, path, one)),
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${escape(info.title)} API</title>
<link rel="stylesheet" href="/docs.css" />
</head>
<body>
<h1>${escape(info.title)} API</h1>
<p>${escape(info.description)} The same for programs: <a href="/openapi.json">openapi.json</a>. Members with * are required.</p>
<h2>Operations</h2>
${operations.join('\n')}
<h2>Schemas</h2>
${Object.entries(components.schemas)
  .map(([name, one]) => schema(name, one))
  .join('\n')}
</body>
</html>
`
}
