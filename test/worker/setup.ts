import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

await applyD1Migrations(env.DB, env.TEST_MIGRATIONS)

// Nothing in these tests may leave the process: what a test does not answer itself is away.
globalThis.fetch = async () => new Response(null, { status: 503 })
