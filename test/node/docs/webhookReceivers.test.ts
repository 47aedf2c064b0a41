// In charge of: the webhook receivers of docs/webhooks.md exactly as shown: each accepts a real delivery, also one
// signed with two secrets, and refuses forged, altered or old ones.
// Not in charge of: when webhooks are sent and retried (test/worker/webhooks/webhooks.test.ts).
import { spawn, type ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findOnPath } from '../../../transcoder/ffmpeg/sandbox.ts'
import { Gate } from '../../support/http/gate.ts'
import { skipTest } from '../../support/requirement.ts'
import { tempDirectory } from '../../support/media/media.ts'
import { ROOT, Service, waitFor } from '../../support/service.ts'

const text = await readFile(join(ROOT, 'docs/webhooks.md'), 'utf8')
const programs = [...text.matchAll(/^## (Node|Python)[^\n]*\n[\s\S]*?^```(?:js|python)\n([\s\S]*?)^```$/gm)].map(
  ([whole, language, program]) => ({
    title: whole.slice(3, whole.indexOf('\n')),
    language: language!,
    program: program!,
  }),
)
const python = await findOnPath('python3')

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let secret: string
let child: ChildProcess | undefined
/** One address for all receivers, one after the other: it must be known before the service starts. */
let gate: Gate

beforeAll(async () => {
  tempDir = await tempDirectory()
  gate = await Gate.open()
  service = await Service.start({ ALLOW_PRIVATE_HOSTS: gate.host })
  const made = await service.call('/api/v0/webhooks/secret/rotate', { method: 'POST' })
  secret = ((await made.json()) as { secret: string }).secret
})
afterAll(async () => {
  await stop()
  await service?.[Symbol.asyncDispose]()
  await gate?.[Symbol.asyncDispose]()
  await tempDir?.[Symbol.asyncDispose]()
})

/** Closes its connections too: a kept-alive connection would lead the next message to the previous receiver. */
async function stop(): Promise<void> {
  if (child === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
  gate.hangUp()
}

/** Starts a program in a new directory; returns its output so far. */
async function start(title: string, program: string, language: string): Promise<string[]> {
  const directory = tempDir.file(title.replaceAll(/\W+/g, '-'))
  await mkdir(directory, { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules')).catch(() => undefined)
  const [command, file] = language === 'Python' ? [python!, 'receiver.py'] : [process.execPath, 'receiver.mjs']
  await writeFile(join(directory, file), program)
  await stop()
  const started = spawn(command, [file], {
    cwd: directory,
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child = started
  const printed: string[] = []
  createInterface({ input: started.stdout }).on('line', (line) => printed.push(line))
  const first = await waitFor(`${title} to listen`, () => printed[0])
  gate.target = Number(/listening on (\d+)/.exec(first)?.[1])
  return printed
}

async function delivered(customer: string): Promise<number> {
  const id = await service.create({
    input: 'https://none.test/none.mp4',
    videoProfiles: [{ width: 0, height: 180, video_bitrate: 400 }],
    audioProfiles: [],
    cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
    webhook_url: `http://${gate.host}/hook`,
    metadata: { customer },
  })
  await service.call(`/api/v0/job/${id}/cancel`, { method: 'POST' })
  await waitFor('the delivery', async () => {
    const { deliveries }: any = await (await service.call(`/api/v0/job/${id}/webhooks`)).json()
    return deliveries[0]?.state === 'delivered'
  })
  return id
}

/** Signs a forged message with the service's method. */
function signed(body: string, { key = secret, at = Date.now() / 1000 }: { key?: string; at?: number } = {}) {
  const timestamp = String(Math.floor(at))
  const raw = Buffer.from(key.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', raw).update(`msg_1.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
const send = async (body: string, headers: Record<string, string>) =>
  (await fetch(`http://${gate.host}/hook`, { method: 'POST', body, headers })).status

test('the page has two receivers', () => {
  expect(programs.map(({ language }) => language)).toEqual(['Node', 'Python'])
})

describe.for(programs)('$title', ({ title, program, language }) => {
  test('accepts a real delivery and refuses a forged one', async (context) => {
    if (language === 'Python' && python === null) skipTest(context, 'python3 is not installed')
    const printed = await start(title, program, language)
    const id = await delivered('42')
    const line = await waitFor('the event to be printed', () =>
      printed.find((each) => each.includes(`job.cancelled ${id} `)),
    )
    expect(line).toMatch(/customer'?: '42'/)

    const body = JSON.stringify({ type: 'job.completed', data: { _auto_generated_id_: 7, metadata: {} } })
    const other = `whsec_${Buffer.alloc(32).toString('base64')}`
    const right = signed(body)
    expect(await send(body, right)).toBe(204)
    expect(
      await send(body, {
        ...right,
        'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} ${right['webhook-signature']}`,
      }),
    ).toBe(204)
    const wrong: [string, string, Record<string, string>][] = [
      ['an altered body', body.replace('7', '8'), right],
      ['another secret', body, signed(body, { key: other })],
      ['an old message', body, signed(body, { at: Date.now() / 1000 - 3600 })],
      ['a message of the future', body, signed(body, { at: Date.now() / 1000 + 3600 })],
      ['another id', body, { ...right, 'webhook-id': 'msg_2' }],
      ['another time', body, { ...right, 'webhook-timestamp': String(Number(right['webhook-timestamp']) - 1) }],
      ['no time', body, { ...right, 'webhook-timestamp': 'soon' }],
      ['an empty signature', body, { ...right, 'webhook-signature': '' }],
      ['half a signature', body, { ...right, 'webhook-signature': right['webhook-signature'].slice(0, 20) }],
      ['nothing', body, {}],
    ]
    for (const [what, text, headers] of wrong) expect(await send(text, headers), what).toBe(400)
  })
})
