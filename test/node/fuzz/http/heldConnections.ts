// In charge of: sending each raw form, and holding many connections open that stand still, with what the service must still do.
// Not in charge of: the forms (rawRequests.ts).
import { BASES, FORMS, isOfBase, judgeRaw, SENTINEL, type Base, type Form } from '../generators/rawRequests.ts'
import { RAW, type Finding } from '../fuzzer.ts'
import { holdOpen, type Wire } from './connection.ts'
import type { World } from '../serviceUnderTest.ts'

export interface Sending {
  form: Form
  base: Base
}

/** Each form once for the bases that it looks at, up to `bases` of them. */
export function sendings(bases: number): Sending[] {
  return FORMS.flatMap((form) => BASES.slice(0, isOfBase(form) ? bases : 1).map((base) => ({ form, base })))
}

export async function sendRaw(world: World, wire: Wire, { form, base }: Sending): Promise<Finding[]> {
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
  const wrong = judgeRaw(form, heard, world.secrets, [world.service.stateDir])
  return wrong.map((what) => ({ about, what, seed: 0, request: `${base.name}: ${request}`, answer }))
}

/** Some of each: heads that do not end, bodies that do not go on, answers that nobody reads. @returns what is wrong */
export async function standStill(world: World, wire: Wire, count: number): Promise<string[]> {
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

/** So many requests at once on one connection. @returns what is wrong */
export async function pipeline(world: World, wire: Wire, count: number): Promise<string[]> {
  const one = (last: boolean) =>
    `GET /health HTTP/1.1\r\nHost: ${world.host}\r\n${last ? 'Connection: close\r\n' : ''}\r\n`
  const text = Array.from({ length: count }, (_, n) => one(n === count - 1)).join('')
  const { answers } = await wire({ bytes: Buffer.from(text), methods: Array(count).fill('GET') as string[] })
  const right = answers.filter(({ status, body }) => status === 200 && body.includes('"ok"')).length
  return right === count ? [] : [`${right} of ${count} requests on one connection were answered`]
}
