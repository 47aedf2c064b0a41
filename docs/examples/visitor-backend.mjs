// The backend of visitor-upload.html: it holds the API key, issues upload tokens and creates jobs.
// SPLICEPOINT_URL=https://… SPLICEPOINT_KEY=… node visitor-backend.mjs
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const { SPLICEPOINT_URL, SPLICEPOINT_KEY, PORT = '3000' } = process.env
const page = await readFile(new URL('visitor-upload.html', import.meta.url))

async function api(path, body, headers = {}) {
  const answer = await fetch(SPLICEPOINT_URL + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Basic ${btoa(`${SPLICEPOINT_KEY}:`)}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: body && JSON.stringify(body),
  })
  if (!answer.ok) throw new Error((await answer.json()).error.message)
  return answer.json()
}

const routes = {
  // Decide here who may upload: check the session, count, limit.
  'POST /upload-token': () =>
    api('/api/v0/uploads/tokens', { max_bytes: 2_000_000_000, expires_in_seconds: 3600, name: 'a visitor' }),

  // Trust the service, not the page: what did this token upload?
  'POST /uploaded': async ({ token_id }) => {
    const { uploads } = await api(`/uploads?state=ready&token=${encodeURIComponent(token_id)}`)
    if (uploads.length === 0) throw new Error('Nothing was uploaded.')
    const [{ uploaded_file_number: number }] = uploads
    const job = {
      preset: 'hls',
      input: String(number),
      metadata: { visitor: 'a visitor' },
      cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
    }
    // The same key makes one job, however often the page asks.
    const { _auto_generated_id_: id } = await api('/api/v0/job', job, { 'idempotency-key': `upload-${number}` })
    return { job: id }
  },
}

const server = createServer(async (request, response) => {
  const { method, url } = request
  if (method === 'GET' && url === '/') return response.setHeader('content-type', 'text/html').end(page)
  const route = routes[`${method} ${url}`]
  if (!route) return response.writeHead(404).end()
  try {
    let text = ''
    for await (const piece of request) if ((text += piece).length > 10_000) return response.writeHead(413).end()
    const answer = await route(JSON.parse(text))
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  } catch (error) {
    response.writeHead(502).end(error.message)
  }
})
server.listen(PORT, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
