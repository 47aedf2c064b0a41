// In charge of: where tests run. `worker`: inside workerd, on the real app with real D1, R2, queue and Durable Objects.
// `node`: in Node 24, for the transcoder, the scripts and everything that runs ffmpeg or whole processes.
// `containers`: the service as it is deployed, with transcoders in real containers, where CONTAINERS names a Docker engine.
import { availableParallelism } from 'node:os'
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { buildWeb } from './scripts/buildWeb.ts'
import { LONG_FORM } from './test/support/longForm.ts'
import { firstEngine } from './scripts/test/testEngines.ts'
import { LongestFirst } from './test/support/longestFirst.ts'
import { STEP_TIMEOUT_MS, TEST_TIMEOUT_MS } from './test/support/timeouts.ts'

// Tests of the Worker and of the dashboard serve it; wrangler, which builds it otherwise, is not there.
await buildWeb()

/** expect.poll() asks for so long; its own second is not enough on a machine that has other things to do. */
const expect = { poll: { timeout: STEP_TIMEOUT_MS } }

/** Long forms of tests, which run in groups (test/support/longGroups.ts). */
const exclude = LONG_FORM ? [] : ['**/*.long.test.ts']

/** BASE_URL: Vite has a variable of the same name; services that tests start would take it for theirs. */
const env = { BASE_URL: '', ...(await firstEngine(LONG_FORM)) }

export default defineConfig({
  test: {
    // To end what a file started, on a busy machine.
    teardownTimeout: STEP_TIMEOUT_MS,
    // Most files wait for processes that they started, or for a player that plays: vitest's own choice, one file at a time on
    // two cores, leaves the cores idle for half of the time.
    maxWorkers: Math.max(3, Math.floor(availableParallelism() / 2)),
    sequence: { sequencer: LongestFirst },
    // "expected [ Array(1) ] to deeply equal []" does not say what went wrong, and a report may be all that is kept of a run.
    chaiConfig: { truncateThreshold: 2000 },
    projects: [
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              ratelimits: { TEST_RATE_LIMIT: { namespace_id: '1', simple: { limit: 3, period: 60 } } },
              bindings: {
                EGRESS: 'listed',
                TASK_API_URL: 'http://127.0.0.1:8787',
                ALLOW_PRIVATE_HOSTS: 'media.test:443,logo.test:443,hooks.test:443,canary-host.test:8443',
                TRANSCODER_URLS: 'http://transcoder-0.test,http://transcoder-1.test',
                DRY_RUN_SLOTS: '0',
                SERVICE_SECRET: 'test-only-service-secret-00000000000000000000',
                VAULT_KEYS: 'k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=',
                ADMIN_KEY: 'test-only-admin-key',
                API_KEY: 'test-only-api-key',
                USAGE_PRICES: JSON.stringify({
                  currency: 'EUR',
                  output_hour: { '1080p h264': 0.9, audio: 0.1, copy: 0.05, default: 0.36 },
                  cpu_hour: 3.6,
                  gb_in: 1,
                  gb_out: 2,
                  still: 0.01,
                }),
                // Every request would be a line of the report.
                LOG_LEVEL: 'warn',
                // A real S3 server, where one runs: "<address> <region> <access key> <secret key>" (.ci/run starts it).
                S3_SERVER: process.env['S3_SERVER'] ?? '',
                // Long forms of what tests repeat: jobs, keys.
                REPEAT_JOBS: process.env['REPEAT_JOBS'] ?? '',
                IDEMPOTENCY_KEYS: process.env['IDEMPOTENCY_KEYS'] ?? '',
                LONG_TESTS: LONG_FORM ? '1' : '',
                TEST_MIGRATIONS: await readD1Migrations('./migrations'),
              },
            },
          })),
        ],
        test: {
          name: 'worker',
          include: ['test/worker/**/*.test.ts'],
          exclude,
          setupFiles: ['./test/worker/support/setup.ts'],
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
          expect,
        },
      },
      {
        test: {
          name: 'node',
          env,
          globalSetup: ['test/support/sharedFiles.ts'],
          include: ['test/node/**/*.test.ts'],
          exclude,
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
          expect,
        },
      },
      {
        test: {
          name: 'containers',
          env,
          include: ['test/containers/**/*.test.ts'],
          globalSetup: ['test/containers/timings.ts'],
          testTimeout: 10 * 60_000,
          hookTimeout: 120_000,
          expect,
          // Alone, one file behind the other: each has a service and containers of its own, and times are taken.
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
