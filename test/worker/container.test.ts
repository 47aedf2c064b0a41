// The way out of a production container: Cloudflare hands each of its requests to ContainerProxy, which is asked here as the
// platform would ask it, with the properties that the Container class gives it.
import { env, exports } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { Transcoder } from '../../worker/container.ts'

const DOOR = 'http://door.splicepoint.internal'
interface Loopback {
  ContainerProxy: (options: { props: object }) => Fetcher
}

/** As startAndWaitForPorts() makes it (@cloudflare/containers, applyOutboundInterception). */
const outbound = (): Fetcher =>
  (exports as unknown as Loopback).ContainerProxy({
    props: {
      enableInternet: false,
      containerId: env.TRANSCODER.idFromName('slot-0').toString(),
      className: Transcoder.name,
    },
  })

it('is named in one place only, and is the address that the Worker gives to attempts', () => {
  expect(Object.keys(Transcoder.outboundByHost ?? {})).toEqual([new URL(DOOR).hostname])
  expect(Transcoder.outbound).toBeUndefined()
})

it('leads to the door, which wants the token of the attempt', async () => {
  const response = await outbound().fetch(`${DOOR}/task/1`)
  expect(response.status).toBe(401)
})

it.each(['/', '/health', '/api/v0/job', '/metrics', '/uploads', '/o/1/x', '/task'])(
  'leads to nothing else of the Worker: %s',
  async (path) => {
    const admin = { authorization: `Basic ${btoa('test-only-admin-key:')}` }
    const response = await outbound().fetch(DOOR + path, { headers: admin })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type') ?? '').not.toContain('html')
  },
)

it.each([
  'http://example.com/',
  'http://192.0.2.7/',
  'http://sub.door.splicepoint.internal/task/1',
  'http://169.254.169.254/',
])('leads to no other host: %s', async (address) => {
  const response = await outbound().fetch(address)
  expect(response.status).toBe(520)
})
