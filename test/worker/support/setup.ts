import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)

// No request of these tests may leave the process: addresses that a test does not answer itself are unreachable.
/** The network, for tests of a server that was started for them. */
export const realFetch = globalThis.fetch.bind(globalThis)
globalThis.fetch = async () => new Response(null, { status: 503 })
