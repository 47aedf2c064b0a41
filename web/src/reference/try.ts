// In charge of: the forms of the page /docs that send requests to this service. The page works without them.
// Not in charge of: the page (scripts/openapi/referencePage.ts), which is generated from the same OpenAPI document.

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
}

interface Operation {
  operationId: string
  security: unknown[]
  parameters: Parameter[]
  requestBody?: { content: Record<string, { example?: unknown }> }
}

/** Shared with the dashboard: a user who is signed in there needs no key here. */
const KEY = 'splicepoint.key'
/** In characters: showing a longer answer would block the page. */
const MOST_SHOWN = 200_000

const keyField = element('input', {
  type: 'password',
  autocomplete: 'off',
  spellcheck: false,
  value: sessionStorage.getItem(KEY) ?? '',
})

/** The resulting address on this service, or a message that says what is missing. */
function addressOf(path: string, given: ReadonlyMap<Parameter, HTMLInputElement>): URL | string {
  let filled = path
  const query = new URLSearchParams()
  for (const [{ name, in: place }, { value }] of given) {
    if (place === 'path') {
      if (value === '') return `Fill in ${name} first.`
      // Slashes in an output's path are kept.
      filled = filled.replace(`{${name}}`, value.split('/').map(encodeURIComponent).join('/'))
    } else if (place === 'query' && value !== '') query.set(name, value)
  }
  const url = new URL(filled, location.origin)
  url.search = query.toString()
  return url
}

async function shown(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (!/json|text|mpegurl|xml/.test(type)) {
    const { size } = await response.blob()
    return size === 0 ? '(no body)' : `(${size} bytes${type === '' ? '' : ` of ${type}`})`
  }
  const text = await response.text()
  if (text === '') return '(no body)'
  const pretty = type.includes('json') ? JSON.stringify(JSON.parse(text), null, 2) : text
  return pretty.length > MOST_SHOWN ? `${pretty.slice(0, MOST_SHOWN)}\n…` : pretty
}

function formOf(method: string, path: string, operation: Operation): HTMLElement {
  const given = new Map(
    operation.parameters.map((each) => [
      each,
      element('input', { type: 'text', autocomplete: 'off', spellcheck: false }),
    ]),
  )
  const [[type, media] = []] = Object.entries(operation.requestBody?.content ?? {})
  const text =
    type === 'application/json'
      ? element('textarea', { rows: 12, spellcheck: false, value: JSON.stringify(media?.example ?? {}, null, 2) })
      : null
  const file = type !== undefined && text === null ? element('input', { type: 'file' }) : null
  const status = element('p', { className: 'soft', role: 'status' })
  const answer = element('pre', { hidden: true, tabIndex: 0 })
  const send = element('button', { type: 'submit', textContent: 'Send' })

  const ask = async (): Promise<void> => {
    const url = addressOf(path, given)
    if (typeof url === 'string') {
      status.textContent = url
      return
    }
    const headers = new Headers()
    for (const [{ name, in: place }, { value }] of given)
      if (place === 'header' && value !== '') headers.set(name, value)
    if (operation.security.length > 0) headers.set('Authorization', `Basic ${btoa(`${keyField.value}:`)}`)
    if (type !== undefined && (text !== null || file?.files?.[0])) headers.set('Content-Type', type)
    send.disabled = true
    status.textContent = 'Waiting for the answer…'
    try {
      const began = performance.now()
      const response = await fetch(url, {
        method: method.toUpperCase(),
        headers,
        body: text?.value ?? file?.files?.[0] ?? null,
      })
      answer.textContent = await shown(response)
      answer.hidden = false
      status.textContent = `${response.status} ${response.statusText} after ${Math.round(performance.now() - began)} ms`
    } catch (error) {
      status.textContent = `The request could not be sent: ${error instanceof Error ? error.message : String(error)}`
    } finally {
      send.disabled = false
    }
  }
  const form = element(
    'form',
    {
      onsubmit: (event) => {
        event.preventDefault()
        void ask()
      },
    },
    ...[...given].map(([{ name, in: place, required }, input]) =>
      labelled(`${name} (${place}${required === true ? ', required' : ''})`, input),
    ),
    ...(text ? [labelled('Body (JSON)', text)] : []),
    ...(file ? [labelled('File', file)] : []),
    element('div', { className: 'send' }, send, status),
    answer,
  )
  return element('details', { className: 'try' }, element('summary', { textContent: 'Try it' }), form)
}

const described = (await (await fetch('/openapi.json')).json()) as { paths: Record<string, Record<string, Operation>> }

document.querySelector('#start')?.append(
  element(
    'div',
    { className: 'key' },
    labelled('API key for “Try it”', keyField),
    element('p', {
      className: 'soft',
      textContent: 'Kept in this tab until it is closed, and sent only to this service.',
    }),
  ),
)
keyField.addEventListener('input', () => sessionStorage.setItem(KEY, keyField.value))

for (const [path, methods] of Object.entries(described.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    document.getElementById(operation.operationId)?.append(formOf(method, path, operation))
  }
}

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

export function labelled(text: string, field: HTMLElement): HTMLLabelElement {
  return element('label', {}, element('span', { textContent: text }), field)
}
