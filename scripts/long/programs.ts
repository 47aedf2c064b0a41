// In charge of: the programs of `npm run long`, with their options.
// Not in charge of: groups of tests (test/support/longGroups.ts), starting one (../long.ts).
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

export interface LongProgram {
  /** One line. Options are those of the program, after `--`. */
  description: string
  /** What Node runs, in the root of the repository. */
  run: readonly string[]
  /** Defaults: the environment of the caller wins. */
  env?: Readonly<Record<string, string>>
}

const vitest = (project: 'node' | 'worker', ...files: string[]): string[] => [
  join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs'),
  'run',
  `--project=${project}`,
  '--reporter=verbose',
  ...files,
]

export const LONG_PROGRAMS: Readonly<Record<string, LongProgram>> = {
  simulate: {
    description: 'jobs with faults in virtual time; --seeds N, --seed N --trace, --repeat',
    run: ['test/simulation/main.ts'],
  },
  chaos: {
    description: 'kills processes of the service during jobs; --runs N, --chunks [--codec hevc], --planted, --write',
    run: ['test/node/chaos/main.ts'],
  },
  matrix: {
    description:
      'measures every value of every parameter in outputs, writes docs/internals/matrix; --only GROUP, --dry, --chunked',
    run: ['test/matrix/main.ts'],
  },
  golden: {
    description: 'compares what every job of the matrix plans, runs and stores with the corpus; --only TEXT, --write',
    run: ['test/golden/main.ts'],
  },
  fuzz: {
    description: 'requests generated from the OpenAPI document; FUZZ_SEED, FUZZ_REQUESTS, FUZZ_ONLY',
    run: ['test/node/fuzz/main.ts'],
  },
  'fuzz-media': {
    description: 'mutated source files; FUZZ_RUNS, FUZZ_SEED',
    run: vitest('node', 'test/node/service/security/hostileSources.test.ts'),
    env: { FUZZ_RUNS: '300', FUZZ_SEED: String(Math.floor(Date.now() / 1000)) },
  },
  hostile: {
    description: 'hostile servers, and what ffmpeg opens (strace)',
    run: vitest(
      'node',
      'test/node/service/security/hostileServers.test.ts',
      'test/node/transcoder/ffmpeg/systemCalls.test.ts',
    ),
    env: { HOSTILE: 'long' },
  },
  cuts: {
    description: 'sources that end at seeded bytes; --offsets N, --seed N, --form ts,mp4,mkv,hls,fmp4',
    run: ['test/node/truncation/main.ts'],
  },
  cuesweep: {
    description: 'a cue at every frame of two GOPs in every form of output; --frames N',
    run: ['test/node/cueTiming/main.ts'],
  },
  everyday: {
    description: 'every kind of file that people bring',
    run: vitest('node', 'test/node/everyday/everyday.test.ts'),
    env: { EVERYDAY: '1' },
  },
  repeat: {
    description: 'races in the real Worker; IDEMPOTENCY_KEYS, REPEAT_JOBS',
    run: vitest('worker', 'test/worker/scheduler/races.test.ts'),
    env: { IDEMPOTENCY_KEYS: '1000', REPEAT_JOBS: '1000' },
  },
  busy: {
    description: 'tests while other programs keep every core busy: busy 10 test/node/web/browser',
    run: ['scripts/testUnderLoad.ts'],
  },
}
