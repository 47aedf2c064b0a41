// In charge of: the page /docs: the OpenAPI document for people, without resources of other hosts. It works without its
// script, which adds forms to try operations (web/src/reference/try.ts).
import { introduction, type IntroductionTopic } from './introduction.ts'
import type { Schema } from './schemaParts.ts'
import { groupsOf, type ShownDocument, type ShownOperation } from './shownDocument.ts'

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Escapes a description and converts `code`, the only Markdown in it. */
const prose = (text: string): string => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

/** A short description of a schema. A schema with a name becomes a link. */
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

const table = (name: string, heads: string[], cells: string[][]): string =>
  `<table class="${name}"><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>
${cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')}
</tbody></table>`

const badge = (method: string): string => `<span class="method ${method}">${method.toUpperCase()}</span>`

function answers(one: ShownOperation): string {
  const parts = Object.entries(one.responses).map(([status, { description, content }]) => {
    const [media] = Object.values(content ?? {})
    const named = Object.entries(media?.examples ?? {}).map(
      ([name, { value }]) => `<h4>${escape(name)}</h4>${code(value)}`,
    )
    const shown = media?.example === undefined ? named.join('\n') : code(media.example)
    const line = `<strong>${status}</strong> ${prose(description)}`
    const body = Object.entries(content ?? {})
      .map(([type, { schema: of }]) => `<p class="soft">${escape(type)}: ${kind(of)}</p>`)
      .join('')
    return shown === '' ? `<div>${line}${body}</div>` : `<details><summary>${line}</summary>${body}${shown}</details>`
  })
  return `<h4>Responses</h4>${parts.join('\n')}`
}

function operation(method: string, path: string, one: ShownOperation): string {
  const bodies = Object.entries(one.requestBody?.content ?? {})
  const parameters = one.parameters.map((each) => [
    `<code>${escape(each.name)}</code>`,
    each.in,
    [kind(each.schema), range(each.schema), prose(each.schema.description ?? '')]
      .filter((part) => part !== '')
      .join('; '),
  ])
  return `<section class="card" id="${one.operationId}">
<h3>${badge(method)}<code>${escape(path)}</code></h3>
<p><strong>${prose(one.summary)}.</strong> ${prose(one.description)}</p>
${code(one['x-codeSamples'][0]?.source ?? '')}
${parameters.length > 0 ? table('parameters', ['Parameter', 'In', 'Description'], parameters) : ''}
${bodies.map(([type, { schema: of }]) => `<p>Body: ${escape(type)}${type === 'application/json' ? ` ${kind(of)}` : ''}</p>`).join('\n')}
${answers(one)}
</section>`
}

function schema(name: string, one: Schema): string {
  const required = (one['required'] ?? []) as string[]
  const members = Object.entries((one['properties'] ?? {}) as Record<string, Schema>).map(([id, each]) => [
    `<code>${escape(id)}</code>${required.includes(id) ? ' *' : ''}`,
    [kind(each), range(each)].filter((part) => part !== '').join('; '),
    prose(each.description ?? ''),
  ])
  return `<section class="card" id="${escape(name)}">
<h3>${escape(name)}</h3>
${table('members', ['Member', 'Type', 'Description'], members)}
</section>`
}

const slug = (title: string): string => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

function topic({ title, text, code: lines }: IntroductionTopic): string {
  return `<section class="card" id="${slug(title)}">
<h3>${escape(title)}</h3>
${text.map((paragraph) => `<p>${prose(paragraph)}</p>`).join('\n')}
${lines === undefined ? '' : code(lines)}
</section>`
}

export function referencePage(document: Schema): string {
  const { info, components } = document as unknown as ShownDocument
  const groups = groupsOf(document as unknown as ShownDocument)
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
<script type="module" src="/docs.js"></script>
</head>
<body>
<a class="skip" href="#reference">Skip to the reference</a>
<div class="frame">
<nav aria-label="Contents">
<a href="/">Dashboard</a>
<h2>Getting started</h2>
<ul>
${introduction.map(({ title }) => `<li><a href="#${slug(title)}">${escape(title)}</a></li>`).join('\n')}
</ul>
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
<p>${prose(info.description)}</p>
<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). The commands below run as they stand in a shell that has
these variables:</p>
${code('export BASE=https://transcode.example.com KEY=sp_… JOB=1 UPLOAD=1')}
<div id="start"></div>
<h2>Getting started</h2>
${introduction.map(topic).join('\n')}
${groups.map(({ name, description, list }) => `<h2>${escape(name)}</h2>\n<p>${prose(description)}</p>\n${list.map(({ method, path, one }) => operation(method, path, one)).join('\n')}`).join('\n')}
<h2>Schemas</h2>
<p>Members with * are required.</p>
${schemas.map(([name, one]) => schema(name, one)).join('\n')}
</main>
</div>
</body>
</html>
`
}
