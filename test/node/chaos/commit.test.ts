// The short form of `npm run chaos -- --commits all`: real processes are killed while commits are held at chosen steps.
// CHAOS_SEED=<n> chooses others.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Random } from '../../simulation/random.ts'
import { CommitLab, targetsOf, VICTIMS, type Target } from './commit.ts'
import { KINDS, type Kind } from './shapes.ts'

const SEED = Number(process.env['CHAOS_SEED'] || 1)
let lab: CommitLab
let steps: Record<Kind, string[]>
beforeAll(async () => {
  lab = await CommitLab.open()
  steps = await lab.steps()
}, 240_000)
afterAll(() => lab?.[Symbol.asyncDispose]())

/** Two of each kind: of what has an effect, and is therefore worth most. */
function chosen(random: Random, victim: (typeof VICTIMS)[number]): Target[] {
  return KINDS.flatMap((kind) => {
    const all = targetsOf(kind, steps[kind], victim).filter(({ step }) => !/^(Head|List)/.test(step))
    return [0, 1].map((half) => all[Math.floor(((half + random.next()) / 2) * all.length)]!)
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

test.each(VICTIMS.map((victim, index) => ({ victim, seed: SEED * VICTIMS.length + index })))(
  `seed $seed (CHAOS_SEED=${SEED}): SIGKILL of $victim while six commits are under way: each is carried on, once`,
  async ({ victim, seed }) => {
    const outcomes = await lab.strike(victim, chosen(new Random(seed), victim), seed)
    expect(outcomes.filter(({ hit, wrong }) => !hit || wrong.length > 0)).toEqual([])
  },
  300_000,
)
