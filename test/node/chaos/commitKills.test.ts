// The short form of `npm run long chaos -- --commits all`: real processes are killed while commits are held at chosen steps.
// CHAOS_SEED=<n> chooses other steps.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampled } from '../../support/longForm.ts'
import { Random } from '../../support/seededRandom.ts'
import { ROOT } from '../../support/service.ts'
import { CommitKillBench, killPoints, KILLED_PROCESSES, type KillPoint } from './commitKills.ts'
import { PLANTED_BUGS } from './plantedCommitBugs.ts'
import { JOB_KINDS, type JobKind } from './jobKinds.ts'

const SEED = Number(process.env['CHAOS_SEED'] || 1)
let fixture: CommitKillBench
let steps: Record<JobKind, string[]>
beforeAll(async () => {
  fixture = await CommitKillBench.open({ jobs: 6 })
  steps = await fixture.steps()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

/** Only steps that have an effect, which matter most: that many of each kind. */
function chosen(random: Random, victim: (typeof KILLED_PROCESSES)[number], count: number): KillPoint[] {
  return JOB_KINDS.flatMap((kind) => {
    const all = killPoints(kind, steps[kind], victim).filter(({ step }) => !/^(Head|List)/.test(step))
    return Array.from({ length: count }, (_, n) => all[Math.floor(((n + random.next()) / count) * all.length)]!)
  })
}

test('a commit puts what points at others behind them', () => {
  expect(steps.file).toContain('CompleteMultipartUpload video.mp4')
  for (const kind of ['segmented', 'tar'] as const) {
    const puts = steps[kind].filter((step) => /^(Put|Complete)/.test(step))
    const master = puts.indexOf('PutObject master.m3u8')
    expect(puts.slice(0, master)).toEqual(expect.arrayContaining(['PutObject video_0/playlist.m3u8']))
    expect(master).toBeGreaterThan(2)
  }
})

test.each(
  sampled(KILLED_PROCESSES, 2).map((victim, index) => ({ victim, seed: SEED * KILLED_PROCESSES.length + index })),
)(
  `seed $seed (CHAOS_SEED=${SEED}): SIGKILL of $victim while commits are under way: each is carried on, once`,
  async ({ victim, seed }) => {
    const random = new Random(seed)
    const outcomes = await fixture.killAtPoints(
      victim,
      chosen(random, victim, victim === 'runtime and transcoder' ? 2 : 1),
      random,
    )
    expect(outcomes.filter(({ hit, wrong }) => !hit || wrong.length > 0)).toEqual([])
  },
  300_000,
)

test.each(PLANTED_BUGS)('npm run long chaos -- --planted can still plant: $name', async ({ file, find }) => {
  expect((await readFile(join(ROOT, file), 'utf8')).split(find)).toHaveLength(2)
})
