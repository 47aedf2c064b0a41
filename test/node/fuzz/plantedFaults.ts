// In charge of: faults that the fuzzer must find, each put into the answers of a service that has none.
// Not in charge of: finding them (fuzzer.test.ts demands it).
import { parseResponses } from './http/responseParser.ts'
import type { HeardStream, Connection } from './http/connection.ts'

/** One answer as it is put back on the wire. */
interface Draft {
  status: number
  headers: Map<string, string>
  body: string
}

export interface PlantedFault {
  name: string
  /** Where it is. */
  lane: string
  /** Changes the draft, or says that this answer stays. `sent`: the request's bytes. */
  plant: (draft: Draft, sent: string) => boolean | string
  finds: RegExp
}

const json = (draft: Draft): any => JSON.parse(draft.body)
const put = (draft: Draft, status: number, value: unknown): true => {
  draft.status = status
  draft.body = JSON.stringify(value)
  draft.headers.set('content-type', 'application/json')
  return true
}
const error = (code: string, message = 'a', more: object = {}) => ({ error: { code, message, ...more } })

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a status that is not in the document',
    lane: 'GET /api/v0/limits',
    plant: (draft) => draft.status === 200 && ((draft.status = 203), true),
    finds: /status 203 is not in the document/,
  },
  {
    name: '500 to a body with null in it',
    lane: 'POST /api/v0/job',
    plant: (draft, sent) => draft.status === 400 && sent.includes('null') && put(draft, 500, error('internal')),
    finds: /^500 internal/,
  },
  {
    name: 'a stack trace',
    lane: 'POST /api/v0/job',
    plant: (draft) =>
      draft.status === 400 && put(draft, 400, error('invalid_request', 'TypeError: a\n    at f (file:///a/b.ts:1:2)')),
    finds: /the answer has a stack trace/,
  },
  {
    name: 'a path of the machine in a header',
    lane: 'GET /metrics',
    plant: (draft) => (draft.headers.set('x-served-by', process.cwd()), true),
    finds: /the answer has a path of the machine/,
  },
  {
    name: 'a body that comes back in the message',
    lane: 'POST /api/v0/job',
    plant: (draft, sent) =>
      draft.status === 400 && put(draft, 400, error('invalid_request', sent.split('\r\n\r\n')[1])),
    finds: /the answer has a secret/,
  },
  {
    name: 'a member that is left out',
    lane: 'GET /api/v0/job/{id}',
    plant: (draft) => {
      if (draft.status !== 200 || draft.body === '') return false
      const { status, config } = json(draft)
      return put(draft, 200, { status: { ...status, phase: undefined }, config })
    },
    finds: /200 is not as its schema says: .*phase/,
  },
  {
    name: 'a number as text',
    lane: 'GET /uploads',
    plant: (draft) =>
      draft.status === 200 && ((draft.body = draft.body.replaceAll(/"size":(\d+)/g, '"size":"$1"')), true),
    finds: /200 is not as its schema says: .*size/,
  },
  {
    name: 'a body that is taken whatever it is',
    lane: 'PUT /api/v0/accounts/{account}',
    plant: (draft, sent) =>
      draft.status === 400 &&
      sent.startsWith('PUT') &&
      put(draft, 200, {
        account: 'a',
        max_active_jobs: 1,
        max_running: null,
        max_stored_upload_bytes: null,
        weight: 1,
      }),
    finds: /a body is taken that the document refuses/,
  },
  {
    name: 'a bound that is narrower than the document says',
    lane: 'PATCH /api/v0/keys/{key}',
    plant: (draft, sent) =>
      draft.status === 200 &&
      sent.includes('"priority"') &&
      put(
        draft,
        400,
        error('invalid_request', 'a', { details: [{ code: 'out_of_range', field: 'priority', message: 'a' }] }),
      ),
    finds: /a body is refused \(out_of_range priority\)/,
  },
  {
    name: 'a query that is refused',
    lane: 'GET /api/v0/job',
    plant: (draft, sent) =>
      draft.status === 200 &&
      sent.includes('limit=') &&
      put(
        draft,
        400,
        error('invalid_request', 'a', { details: [{ code: 'invalid_value', field: 'limit', message: 'a' }] }),
      ),
    finds: /a limit is refused/,
  },
  {
    name: 'an error as plain text',
    lane: 'DELETE /api/v0/job/{id}',
    plant: (draft) =>
      draft.status === 404 && (draft.headers.set('content-type', 'text/plain'), (draft.body = 'Not Found'), true),
    finds: /404 has a type that is not in the document/,
  },
  {
    name: 'an error without a code',
    lane: 'other addresses',
    plant: (draft) => draft.status === 404 && draft.body !== '' && put(draft, 404, { message: 'Not Found' }),
    finds: /404 without the error shape/,
  },
  {
    name: 'a code of another operation',
    lane: 'POST /api/v0/job/{id}/cancel',
    plant: (draft) => draft.status === 409 && put(draft, 409, error('locked')),
    finds: /409 with the code locked/,
  },
  {
    name: 'a list for whoever asks',
    lane: 'GET /api/v0/job',
    plant: (draft) => draft.status === 401 && put(draft, 200, { jobs: [], next_cursor: null }),
    finds: /200 without a valid key/,
  },
  {
    name: 'keys for those who have one of any scope',
    lane: 'GET /api/v0/keys',
    plant: (draft) => draft.status === 403 && put(draft, 200, { keys: [] }),
    finds: /200 with a key of another scope/,
  },
  {
    name: "another account's job that is told from a missing one",
    lane: 'POST /api/v0/job/{id}/cancel',
    plant: (draft) => draft.status === 404 && put(draft, 409, error('job_finished')),
    finds: /409 at what another account has/,
  },
  {
    name: 'a token that nobody looks at',
    lane: 'the task API',
    plant: (draft) => draft.status === 401 && put(draft, 200, { verdict: 'continue' }),
    finds: /200 without a token of the task/,
  },
  {
    name: '401 that does not say how',
    lane: 'GET /uploads',
    plant: (draft) => draft.status === 401 && draft.headers.delete('www-authenticate'),
    finds: /401 without www-authenticate/,
  },
  {
    name: 'a place that the client made up',
    lane: 'GET /api/v0/limits',
    plant: (draft, sent) =>
      sent.includes('X-Forwarded') && (draft.headers.set('location', 'http://made-up-host.invalid/'), true),
    finds: /a host of the client's making/,
  },
  {
    name: 'a page of the runtime',
    lane: 'the runtime',
    plant: (draft, sent) => sent.includes('/cdn-cgi/') && put(draft, 200, { success: true }),
    finds: /200 at an address that is not in the document/,
  },
  {
    name: 'a header of the runtime that has its way',
    lane: 'the runtime',
    plant: (draft, sent) =>
      sent.includes('MF-') && ((draft.body = 'Internal Server Error'), (draft.status = 500), true),
    finds: /^500/,
  },
  {
    name: 'no answer',
    lane: 'GET /api/v0/accounts',
    plant: (draft) => draft.status === 200 && '',
    finds: /closed without an answer/,
  },
  {
    name: 'half of an answer',
    lane: 'GET /api/v0/accounts',
    plant: (draft) => draft.status === 200 && 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}',
    finds: /the answer is no HTTP/,
  },
  {
    name: 'two answers',
    lane: 'GET /health',
    plant: (draft) => draft.status === 200 && 'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
    finds: /more than one answer/,
  },
]

/** The wire with the fault on it. */
export function withFault(wire: Connection, fault: PlantedFault): Connection {
  return async (sent) => {
    const heard = await wire(sent)
    const [answer] = heard.answers
    if (answer === undefined) return heard
    const draft = { status: answer.status, headers: new Map(answer.headers), body: answer.body.toString('utf8') }
    const planted = fault.plant(draft, sent.bytes.toString('latin1'))
    if (planted === false) return heard
    return again(typeof planted === 'string' ? planted : spelled(draft), sent.methods)
  }
}

function spelled({ status, headers, body }: Draft): string {
  const framing = new Set(['content-length', 'transfer-encoding', 'content-encoding'])
  const lines = [...headers].filter(([name]) => !framing.has(name)).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = Buffer.byteLength(body)
  return `HTTP/1.1 ${status} Planted\r\n${lines.join('')}content-length: ${length}\r\n\r\n${body}`
}

function again(text: string, methods: readonly string[]): HeardStream {
  const raw = Buffer.from(text, 'utf8')
  return { ...parseResponses(raw, methods, true), silent: false, raw }
}
