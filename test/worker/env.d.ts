import type { D1Migration } from 'cloudflare:test'

declare global {
  namespace Cloudflare {
    interface Env {
      TEST_MIGRATIONS: D1Migration[]
      S3_SERVER: string
      REPEAT_JOBS: string
      IDEMPOTENCY_KEYS: string
      LONG_TESTS: string
      TEST_RATE_LIMIT: RateLimit
    }
  }
}
