// In charge of: the page /docs: the OpenAPI document for people, without a script and without any other host.
import type { Schema } from './parts.ts'

interface Media {
  schema: Schema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

interface Shown {
  operationId: string
  summary: string
  tags: string[]
  description: string
  parameters: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
  'x-codeSamples': { source: string }[]
}

interface Document {
  info: { title: string; description: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Shown>>
  components: { schemas: Record<string, Schema> }
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Few words for a schema; another schema is a link to it. */
function kind(schema: Schema): string {
  const { $ref, type, enum: values, const: one, items, anyOf }: { [name: string]: any } = schema
  if ($ref !== undefined) {
    const name = escape(String($ref).split('/').at(-1) ?? '')
    return `<a href="#${name}">${name}</a>`
  }
  if (Array.isArray(anyOf)) return anyOf.map((each) => kind(each as Schema)).join(' or ')
  if (one !== undefined) return `<code>${escape(JSON.stringify(one))}</code>`
  if (Array.isArray(values)) return values.map((value) => `<code>${escape(JSON.stringify(value))}</code>`).join(' ')
  if (items !== undefined) return `list of ${kind(items as Schema)}`
  return escape([type ?? 'any'].flat().join(' or '))
}

function range({ minimum, exclusiveMinimum, maximum, default: fallback }: Schema): string {
  const say = (words: string, value: unknown) =>
    value === undefined ? [] : [`${words} ${escape(JSON.stringify(value))}`]
  return [
    ...say('at least', minimum),
    ...say('above', exclusiveMinimum),
    ...say('at most', maximum),
    ...say('default', fallback),
  ].join(', ')
}

const code = (value: unknown): string =>
  `<pre tabindex="0">${escape(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}</pre>`

const table = (heads: string[], cells: string[][]): string =>
  `<table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>
${cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')}
</tbody></table>`

const badge = (method: string): string => `<span class="method ${method}">${method.toUpperCase()}</span>`

function answers(one: Shown): string {
  const parts = Object.entries(one.responses).map(([status, { description, content }]) => {
    const [media] = Object.values(content ?? {})
    const named = Object.entries(media?.examples ?? {}).map(
      ([name, { value }]) => `<h4>${escape(name)}</h4>${code(value)}`,
    )
    const shown = media?.example === undefined ? named.join('\n') : code(media.example)
    const line = `<strong>${status}</strong> ${escape(description)}`
    const body = Object.entries(content ?? {})
      .map(([type, { schema: of }]) => `<p class="soft">${escape(type)}: ${kind(of)}</p>`)
      .join('')
    return shown === '' ? `<div>${line}${body}</div>` : `<details><summary>${line}</summary>${body}${shown}</details>`
  })
  return `<h4>Answers</h4>${parts.join('\n')}`
}

function operation(method: string, path: string, one: Shown): string {
  const bodies = Object.entries(one.requestBody?.content ?? {})
  const parameters = one.parameters.map((each) => [
    `<code>${escape(each.name)}</code>`,
    each.in,
    [kind(each.schema), range(each.schema), escape(each.schema.description ?? '')]
      .filter((part) => part !== '')
      .join('; '),
  ])
  return `<section class="card" id="${one.operationId}">
<h3>${badge(method)}<code>${escape(path)}</code></h3>
<p>${escape(one.summary)}. <span class="soft">${escape(one.description)}</span></p>
${code(one['x-codeSamples'][0]?.source ?? '')}
${parameters.length > 0 ? table(['parameter', 'in', 'what it is'], parameters) : ''}
${bodies.map(([type, { schema: of }]) => `<p>Body: ${escape(type)}${type === 'application/json' ? ` ${kind(of)}` : ''}</p>`).join('\n')}
${answers(one)}
</section>`
}

function schema(name: string, one: Schema): string {
  const required = (one['required'] ?? []) as string[]
  const members = Object.entries((one['properties'] ?? {}) as Record<string, Schema>).map(([id, each]) => [
    `<code>${escape(id)}</code>${required.includes(id) ? ' *' : ''}`,
    [kind(each), range(each)].filter((part) => part !== '').join('; '),
    escape(each.description ?? ''),
  ])
  return `<section class="card" id="${escape(name)}">
<h3>${escape(name)}</h3>
${table(['member', 'kind', 'meaning'], members)}
</section>`
}

export function referencePage(document: Schema): string {
  const { info, tags, paths, components } = document as unknown as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ method, path, one })),
  )
  const groups = tags.map(({ name }) => ({ name, list: operations.filter(({ one }) => one.tags[0] === name) }))
  const schemas = Object.entries(components.schemas)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>${escape(info.title)} API</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml" />
<link rel="stylesheet" href="/docs.css" />
</head>
<body>
<a class="skip" href="#reference">Skip to the reference</a>
<div class="frame">
<nav aria-label="Contents">
<a href="/">Dashboard</a>
${groups
  .map(
    ({ name, list }) => `<h2>${escape(name)}</h2>
<ul>
${list.map(({ method, path, one }) => `<li><a href="#${one.operationId}">${badge(method)}${escape(path)}</a></li>`).join('\n')}
</ul>`,
  )
  .join('\n')}
<h2>Schemas</h2>
<ul>
${schemas.map(([name]) => `<li><a href="#${escape(name)}">${escape(name)}</a></li>`).join('\n')}
</ul>
</nav>
<main id="reference" tabindex="-1">
<h1>${escape(info.title)} API</h1>
<p>${escape(info.description)}</p>
<p>The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). Commands run as they stand in a shell that knows
<code>BASE</code>, <code>KEY</code> and what else they name:</p>
${code('export BASE=https://transcode.example.com KEY=sp_… JOB=1 UPLOAD=1')}
${groups.map(({ name, list }) => `<h2>${escape(name)}</h2>\n${list.map(({ method, path, one }) => operation(method, path, one)).join('\n')}`).join('\n')}
<h2>Schemas</h2>
<p>Members with * are required.</p>
${schemas.map(([name, one]) => schema(name, one)).join('\n')}
</main>
</div>
</body>
</html>
`
}
