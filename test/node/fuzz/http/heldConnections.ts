// In charge of: sending each raw form, and holding many idle connections open; the rules for both.
// Not in charge of: the forms (generators/rawRequests.ts).
import {
  BASES,
  FORMS,
  isOfBase,
  checkRawResponse,
  SENTINEL,
  type RawBase,
  type RawForm,
} from '../generators/rawRequests.ts'
import { RAW, type FuzzFinding } from '../fuzzer.ts'
import { holdOpen, type Connection } from './connection.ts'
import type { ServiceUnderTest } from '../serviceUnderTest.ts'

export interface RawSending {
  form: RawForm
  base: RawBase
}

/** Each form once for each base that it depends on, up to `bases` of them. */
export function rawSendings(bases: number): RawSending[] {
  return FORMS.flatMap((form) => BASES.slice(0, isOfBase(form) ? bases : 1).map((base) => ({ form, base })))
}

export async function sendRaw(
  world: ServiceUnderTest,
  wire: Connection,
  { form, base }: RawSending,
): Promise<FuzzFinding[]> {
  const text = world.fill(form.text(base) + (form.half ? '' : SENTINEL)).replaceAll('{{host.name}}', world.host)
  const heard = await wire({
    bytes: Buffer.from(text, 'latin1'),
    methods: form.half ? [base.method] : [base.method, 'GET'],
    half: true,
    toTheEnd: true,
  })
  const about = `${RAW}: ${form.name}`
  const request = JSON.stringify(text.length > 1500 ? `${text.slice(0, 1500)}… (${text.length} bytes)` : text)
  const answer = heard.raw.subarray(0, 1500).toString('utf8')
  const wrong = checkRawResponse(form, heard, world.secrets, [world.service.stateDir])
  return wrong.map((what) => ({ about, what, seed: 0, request: `${base.name}: ${request}`, answer }))
}

/** Some of each: unfinished heads, unfinished bodies, answers that are not read. @returns the problems */
export async function holdIdleConnections(world: ServiceUnderTest, wire: Connection, count: number): Promise<string[]> {
  const key = `Authorization: ${world.fill('Basic {{basic.jobs}}')}\r\n`
  const host = `Host: ${world.host}\r\n`
  const still = [
    `GET /health HTTP/1.1\r\n${host}X: `,
    `POST /api/v0/job HTTP/1.1\r\n${host}${key}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"`,
    `POST /uploads HTTP/1.1\r\n${host}${key}Content-Length: 1000000\r\n\r\nhello`,
    `POST /api/v0/job HTTP/1.1\r\n${host}${key}Transfer-Encoding: chunked\r\n\r\n5\r\n{`,
    `GET /openapi.json HTTP/1.1\r\n${host}\r\n`,
    'G',
  ]
  const held = await holdOpen(
    world.service.base,
    Array.from({ length: count }, (_, n) => Buffer.from(still[n % still.length] ?? '', 'latin1')),
  )
  try {
    const wrong: string[] = []
    for (const [target, head] of [
      ['/health', ''],
      ['/api/v0/limits', ''],
      ['/api/v0/job?limit=1', key],
      ['/uploads?limit=1', key],
    ] as const) {
      const text = `GET ${target} HTTP/1.1\r\n${host}${head}Connection: close\r\n\r\n`
      const { answers } = await wire({ bytes: Buffer.from(text, 'latin1'), methods: ['GET'] })
      if (answers[0]?.status !== 200)
        wrong.push(`GET ${target} while ${count} connections stand still: ${answers[0]?.status ?? 'no answer'}`)
    }
    return wrong
  } finally {
    held.close()
  }
}

/** That many requests at once on one connection. @returns the problems */
export async function pipelineRequests(world: ServiceUnderTest, wire: Connection, count: number): Promise<string[]> {
  const one = (last: boolean) =>
    `GET /health HTTP/1.1\r\nHost: ${world.host}\r\n${last ? 'Connection: close\r\n' : ''}\r\n`
  const text = Array.from({ length: count }, (_, n) => one(n === count - 1)).join('')
  const { answers } = await wire({ bytes: Buffer.from(text), methods: Array(count).fill('GET') as string[] })
  const right = answers.filter(({ status, body }) => status === 200 && body.includes('"ok"')).length
  return right === count ? [] : [`${right} of ${count} requests on one connection were answered`]
}
