import { describe, expect, test } from 'vitest'
import type { JobErrorCode } from '#contract/errorCodes.ts'
import type { TaskEvent, TaskLifecycle, TaskState } from '#contract/task/lifecycle.ts'
import {
  jobState,
  LONG_ATTEMPT_MS,
  MAX_FREE_EVICTIONS,
  MAX_LOST_ATTEMPTS,
  PROGRESS_STEP,
  terminal,
  transition,
} from '#contract/task/lifecycle.ts'

const states: TaskState[] = [
  'queued',
  'starting',
  'running',
  'divided',
  'committing',
  'completed',
  'failed',
  'cancelled',
]
const life = (state: TaskState, change: Partial<TaskLifecycle> = {}): TaskLifecycle => ({
  kind: 'transcode',
  state,
  attempt: 3,
  lost: 1,
  excused: 0,
  parts: 0,
  survey_parts: 0,
  furthest: 0,
  evicted: 0,
  starts_failed: 0,
  ...change,
})
const permanent = { code: 'source_not_media', message: 'not a media file' } as const
const passing = { code: 'source_unreachable', message: 'away' } as const

const events: TaskEvent[] = [
  { type: 'claim' },
  { type: 'start_failed', attempt: 3, reason: 'no_answer' },
  { type: 'started', attempt: 3 },
  { type: 'lost', attempt: 3, ranMs: 0, share: 0 },
  { type: 'evicted', attempt: 3 },
  { type: 'attempt_failed', attempt: 3, error: permanent },
  { type: 'finish', attempt: 3 },
  { type: 'planned', attempt: 3 },
  { type: 'divide', attempt: 3, parts: 5 },
  { type: 'delivered', attempt: 3 },
  { type: 'parts_done', attempt: 3 },
  { type: 'part_failed', error: permanent },
  { type: 'committed', attempt: 3 },
  { type: 'commit_failed', attempt: 3, error: permanent },
  { type: 'cancel' },
  { type: 'deadline' },
]

describe('which event moves a task from which state', () => {
  // Rows: events; columns: the states above. A dash is a refusal.
  test.each([
    ['claim', 'starting - - - - - - -'],
    ['start_failed', '- queued - - - - - -'],
    ['started', '- running - - - - - -'],
    ['lost', '- queued queued - - - - -'],
    ['evicted', '- queued queued - - - - -'],
    ['attempt_failed', '- failed failed - - - - -'],
    ['finish', '- - committing - - - - -'],
    ['planned', '- - - - - - - -'],
    ['divide', '- - divided - - - - -'],
    ['delivered', '- - - - - - - -'],
    ['parts_done', '- - - queued - - - -'],
    ['part_failed', '- - - failed - - - -'],
    ['committed', '- - - - completed - - -'],
    ['commit_failed', '- - - - failed - - -'],
    ['cancel', 'cancelled cancelled cancelled cancelled - - - -'],
    ['deadline', 'failed failed failed failed - - - -'],
  ])('%s: %s', (type, row) => {
    const event = events.find((candidate) => candidate.type === type)!
    const got = states.map((state) => {
      const decided = transition(life(state), event)
      return decided.ok ? decided.next.state : '-'
    })
    expect(got.join(' ')).toBe(row)
  })
})

test('a dry run ends with its plan, in one step, and has nothing to commit', () => {
  const plan = (state: TaskState): TaskLifecycle => life(state, { kind: 'plan' })
  const got = (type: string) =>
    states.map((state) => {
      const decided = transition(
        plan(state),
        events.find((candidate) => candidate.type === type)!,
      )
      return decided.ok ? decided.next.state : '-'
    })
  expect(got('planned').join(' ')).toBe('- - completed - - - - -')
  expect(got('finish').join(' ')).toBe('- - - - - - - -')
  expect(got('divide').join(' ')).toBe('- - - - - - - -')
  expect(got('lost').join(' ')).toBe('- queued queued - - - - -')
  expect(got('cancel').join(' ')).toBe('cancelled cancelled cancelled cancelled - - - -')
  expect(transition(plan('running'), { type: 'planned', attempt: 3 })).toMatchObject({
    effects: ['release_slot', 'clean_up', 'schedule'],
  })
  expect(transition(plan('running'), { type: 'planned', attempt: 2 })).toEqual({ ok: false, refusal: 'stale' })
  expect(transition(plan('completed'), { type: 'planned', attempt: 3 })).toEqual({ ok: false, refusal: 'same' })
})

describe('a divided job', () => {
  const part = (state: TaskState, change: Partial<TaskLifecycle> = {}) => life(state, { kind: 'part', ...change })

  test('the attempt that divides it frees its slot; a part that is stored, or failed for good, looks at the main task', () => {
    expect(transition(life('running'), { type: 'divide', attempt: 3, parts: 5 })).toMatchObject({
      next: { state: 'divided', attempt: 3, parts: 5 },
      effects: ['release_slot', 'insert_parts', 'schedule'],
    })
    expect(transition(part('running'), { type: 'delivered', attempt: 3 })).toMatchObject({
      next: { state: 'completed' },
      effects: ['release_slot', 'check_main', 'schedule'],
    })
    expect(transition(part('running'), { type: 'attempt_failed', attempt: 3, error: permanent })).toMatchObject({
      next: { state: 'failed' },
      effects: ['release_slot', 'check_main', 'schedule'],
      error: permanent,
    })
    expect(
      transition(part('running', { lost: MAX_LOST_ATTEMPTS - 1 }), { type: 'lost', attempt: 3, ranMs: 0, share: 0 }),
    ).toMatchObject({ next: { state: 'failed' }, effects: ['release_slot', 'check_main', 'schedule'] })
  })

  test('a part ends by its delivery only, and divides nothing', () => {
    for (const event of [
      { type: 'finish', attempt: 3 },
      { type: 'planned', attempt: 3 },
      { type: 'divide', attempt: 3, parts: 5 },
      { type: 'parts_done', attempt: 3 },
    ] as const)
      expect(transition(part('running'), event), event.type).toEqual({ ok: false, refusal: 'impossible' })
    expect(transition(part('completed'), { type: 'delivered', attempt: 3 })).toEqual({ ok: false, refusal: 'same' })
    expect(transition(part('running'), { type: 'delivered', attempt: 2 })).toEqual({ ok: false, refusal: 'stale' })
  })

  test('it is divided once: the attempt after its parts puts them together, also after it was lost', () => {
    expect(transition(life('divided', { parts: 5 }), { type: 'divide', attempt: 3, parts: 5 })).toEqual({
      ok: false,
      refusal: 'same',
    })
    // Not the same message: nobody would make what it asks for.
    for (const other of [{ parts: 6 }, { parts: 5, survey: true }])
      expect(transition(life('divided', { parts: 5 }), { type: 'divide', attempt: 3, ...other })).toEqual({
        ok: false,
        refusal: 'impossible',
      })
    expect(transition(life('divided', { parts: 5 }), { type: 'parts_done', attempt: 3 })).toMatchObject({
      next: { state: 'queued', parts: 5 },
      effects: ['schedule'],
    })
    // Found while its survey was complete, and told after it was divided again.
    expect(transition(life('divided', { parts: 5, survey_parts: 2 }), { type: 'parts_done', attempt: 2 })).toEqual({
      ok: false,
      refusal: 'stale',
    })
    const assembling = life('running', { parts: 5 })
    expect(transition(assembling, { type: 'divide', attempt: 3, parts: 5 })).toEqual({
      ok: false,
      refusal: 'impossible',
    })
    expect(transition(assembling, { type: 'parts_done', attempt: 3 })).toEqual({ ok: false, refusal: 'same' })
    expect(loseAt(assembling, 0)).toMatchObject({ state: 'queued', parts: 5 })
  })

  test.each([
    [{ type: 'cancel' }, 'cancelled'],
    [{ type: 'deadline' }, 'failed'],
    [{ type: 'part_failed', error: permanent }, 'failed'],
  ] as const)('%o ends its parts with it', (event, state) => {
    expect(transition(life('divided', { parts: 5 }), event)).toMatchObject({
      next: { state },
      effects: ['cancel_parts', 'clean_up', 'schedule'],
    })
  })

  test('the end of a part frees its slot and removes nothing: the main task does that', () => {
    const ends = (['queued', 'starting', 'running'] as const).map((state) =>
      transition(part(state), { type: 'cancel' }),
    )
    const stops = { effects: ['release_slot', 'stop_transcoder', 'schedule'] }
    expect(ends).toMatchObject([{ effects: [] }, stops, stops])
  })

  test('after a survey it is divided once more, into more parts', () => {
    const survey = { type: 'divide', attempt: 3, parts: 2, survey: true } as const
    expect(transition(life('running'), survey)).toMatchObject({
      next: { state: 'divided', parts: 2, survey_parts: 2 },
      effects: ['release_slot', 'insert_parts', 'schedule'],
    })
    const surveyed = life('running', { parts: 2, survey_parts: 2 })
    expect(transition(surveyed, { type: 'divide', attempt: 3, parts: 7 })).toMatchObject({
      next: { state: 'divided', parts: 7, survey_parts: 2 },
      effects: ['release_slot', 'insert_parts', 'schedule'],
    })
    const refused = { ok: false, refusal: 'impossible' }
    // One more part is not a division.
    expect(transition(surveyed, { type: 'divide', attempt: 3, parts: 3 })).toEqual(refused)
    // Nor does a survey follow one.
    for (const parts of [2, 4]) expect(transition(surveyed, { ...survey, parts })).toEqual(refused)
    const done = life('running', { parts: 7, survey_parts: 2 })
    expect(transition(done, { type: 'divide', attempt: 3, parts: 9 })).toEqual(refused)
    expect(transition(done, { type: 'finish', attempt: 3, undivided: true })).toMatchObject({
      next: { state: 'committing', parts: 0, survey_parts: 0 },
    })
  })

  test('its job runs until its parts are put together', () => {
    const seen = states.slice(0, 5).map((state) => jobState({ state, parts: 5 }))
    expect(seen).toEqual(['running', 'running', 'running', 'running', 'committing'])
  })
})

test('terminal states never change, whatever comes (I2)', () => {
  for (const state of states.filter((name) => terminal[name])) {
    for (const event of events) expect(transition(life(state), event).ok, `${state} ${event.type}`).toBe(false)
  }
})

test('an event of another attempt is stale in every state (I3)', () => {
  for (const state of states) {
    for (const event of events) {
      if (!('attempt' in event)) continue
      for (const attempt of [2, 4]) {
        expect(transition(life(state), { ...event, attempt })).toEqual({ ok: false, refusal: 'stale' })
      }
    }
  }
})

test('only a claim increments the attempt number, by one', () => {
  for (const state of states) {
    for (const event of events) {
      const decided = transition(life(state), event)
      const attempt = decided.ok ? decided.next.attempt : null
      expect([null, event.type === 'claim' ? 4 : 3]).toContain(attempt)
    }
  }
})

const failed: TaskEvent = { type: 'start_failed', attempt: 3, reason: 'no_answer' }

test('starts that go on failing wait longer and longer, a minute at most, until one succeeds', () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 100].map((before) => {
    const decided = transition(life('starting', { starts_failed: before }), failed)
    return decided.ok ? [decided.next.starts_failed, decided.delayMs] : null
  })
  const seconds = [2, 4, 8, 16, 32, 60, 60, 60]
  expect(delays).toEqual(seconds.map((value, index) => [[1, 2, 3, 4, 5, 6, 7, 101][index], value * 1000]))
  expect(transition(life('starting', { starts_failed: 7 }), { type: 'started', attempt: 3 })).toMatchObject({
    next: { starts_failed: 0 },
  })
})

/** The task after it was lost once more while it ran, and waits or has failed. */
function loseAt(task: TaskLifecycle, share: number): TaskLifecycle {
  const decided = transition({ ...task, state: 'running' }, { type: 'lost', attempt: task.attempt, ranMs: 0, share })
  if (!decided.ok) throw new Error(decided.refusal)
  return decided.next
}
const fresh = life('running', { lost: 0, furthest: null })
/** How many attempts a job has until it fails, if attempt n is lost at `share(n, furthest)`. */
function lossesUntilFailure(share: (n: number, furthest: number) => number): number {
  let task = fresh
  for (let n = 1; n <= 100; n++) {
    task = loseAt(task, Math.min(1, share(n, task.furthest ?? -PROGRESS_STEP)))
    if (task.state === 'failed') return n
  }
  throw new Error('it goes on')
}

describe('which lost attempts count', () => {
  test('one that got clearly further than every lost one before it does not; the first and all others do', () => {
    const counted: [number, number][] = []
    let task = fresh
    for (const share of [0.3, 0.5, 0.45, 0.59, 0.7]) {
      task = loseAt(task, share)
      counted.push([task.lost, task.lost - task.excused])
    }
    expect(counted).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 3],
    ])
    expect(task).toMatchObject({ state: 'queued', furthest: 0.7 })
  })

  test.each([
    ['always at the same place', () => 0.9, 4],
    ['at its beginning', () => 0, 4],
    ['a little later each time', (n: number) => 0.5 + n / 1000, 4],
    ['a little earlier each time', (n: number) => 0.9 - n / 1000, 4],
    // The worst that a source can do: 0, then ten steps to the end, then three more.
    ['as late as to be excused each time', (_: number, furthest: number) => furthest + PROGRESS_STEP, 14],
    ['at random places', (n: number) => (n * 0.618) % 1, 5],
  ])('a source that ends its transcoder %s fails after a bounded number', (_title, share, most) => {
    expect(lossesUntilFailure(share)).toBe(most)
  })

  test('an attempt that failed by itself always counts, and moves nothing', () => {
    const task = life('running', { lost: 1, furthest: 0.2 })
    const error = { code: 'encoder_killed', message: 'killed' } as const
    expect(transition(task, { type: 'attempt_failed', attempt: 3, error })).toMatchObject({
      next: { state: 'queued', lost: 2, excused: 0, furthest: 0.2 },
    })
  })

  test('evictions do not count, up to a number that no job meets by accident', () => {
    let task = life('running', { lost: MAX_LOST_ATTEMPTS - 1 })
    for (let n = 1; n <= MAX_FREE_EVICTIONS; n++) {
      const decided = transition({ ...task, state: 'running' }, { type: 'evicted', attempt: 3 })
      expect(decided).toMatchObject({
        next: { state: 'queued', lost: MAX_LOST_ATTEMPTS - 1, evicted: n },
        effects: ['release_slot', 'schedule'],
      })
      if (decided.ok) task = decided.next
    }
    expect(transition({ ...task, state: 'running' }, { type: 'evicted', attempt: 3 })).toMatchObject({
      next: { state: 'failed', lost: MAX_LOST_ATTEMPTS },
      error: { code: 'attempts_exhausted', message: 'The transcoder was lost 4 times while working on this job.' },
    })
  })
})

test('a start that failed is not counted as lost; a lost attempt is', () => {
  expect(transition(life('starting'), failed)).toMatchObject({ next: { lost: 1 } })
  // A container that ended before its transcoder asked for the task.
  expect(transition(life('starting'), { type: 'lost', attempt: 3, ranMs: 0, share: 0 })).toMatchObject({
    next: { state: 'queued', lost: 1, starts_failed: 1 },
    effects: ['cool_down_slot', 'schedule'],
    delayMs: 2000,
  })
  expect(transition(life('running'), { type: 'lost', attempt: 3, ranMs: 0, share: 0 })).toMatchObject({
    next: { lost: 2 },
  })
  expect(transition(life('running'), { type: 'attempt_failed', attempt: 3, error: passing })).toMatchObject({
    next: { state: 'queued', lost: 2 },
  })
})

test.each([
  ['soon lost', 0, 'attempts_exhausted'],
  ['lost after a long run', LONG_ATTEMPT_MS, 'too_long_for_one_attempt'],
])('one lost attempt too many ends the job: %s', (_title, ranMs, code) => {
  const last = life('running', { lost: MAX_LOST_ATTEMPTS - 1 })
  expect(transition(last, { type: 'lost', attempt: 3, ranMs, share: 0 })).toMatchObject({
    next: { state: 'failed' },
    error: { code },
  })
})

test.each([
  ['transcode', /^The job was interrupted 4 times .*divide the job/],
  ['part', /^It was interrupted 4 times .*shorter chunks/],
] as const)('advice where one attempt of kind %s is too long', (kind, message) => {
  const last = life('running', { kind, lost: MAX_LOST_ATTEMPTS - 1 })
  const ended = transition(last, { type: 'lost', attempt: 3, ranMs: LONG_ATTEMPT_MS, share: 0 })
  expect(ended).toMatchObject({ error: { message: expect.stringMatching(message) as string } })
})

test('what stops the transcoder itself is tried once more, and then ends the job', () => {
  const error = { code: 'source_too_costly', message: 'too much' } as const
  const ended = (lost: number) => transition(life('running', { lost }), { type: 'attempt_failed', attempt: 3, error })
  expect(ended(0)).toMatchObject({ next: { state: 'queued', lost: 1 }, error: null })
  expect(ended(1)).toMatchObject({ next: { state: 'failed', lost: 2 }, error })
})

test('a passing error that passes too often is named itself', () => {
  const last = life('running', { lost: MAX_LOST_ATTEMPTS - 1 })
  expect(transition(last, { type: 'attempt_failed', attempt: 3, error: passing })).toMatchObject({
    next: { state: 'failed' },
    error: passing,
  })
})

test('what is lost comes again within seconds; where a source or a store is away, it is given minutes', () => {
  const delays = (event: TaskEvent): number[] =>
    [0, 1, 2].map((lost) => {
      const decided = transition(life('running', { lost }), event)
      return decided.ok ? decided.delayMs : -1
    })
  const failed = (code: JobErrorCode, details?: Record<string, unknown>): TaskEvent => ({
    type: 'attempt_failed',
    attempt: 3,
    error: { code, message: 'away', ...(details === undefined ? {} : { details }) },
  })
  expect(delays({ type: 'lost', attempt: 3, ranMs: 0, share: 0 })).toEqual([1000, 2000, 4000])
  expect(delays(failed('disk_full'))).toEqual([1000, 2000, 4000])
  for (const code of ['source_unreachable', 'output_unreachable'] as const) {
    expect(delays(failed(code))).toEqual([15_000, 45_000, 135_000])
    // Retry-After, up to the limit that is accepted.
    expect(delays(failed(code, { retry_after: 60 }))).toEqual([60_000, 60_000, 135_000])
    expect(delays(failed(code, { retry_after: 86_400 }))).toEqual([135_000, 135_000, 135_000])
    expect(delays(failed(code, { retry_after: '60' }))).toEqual([15_000, 45_000, 135_000])
  }
})

test('every transition that ends an attempt frees its slot, and one that ends the job cleans it up', () => {
  for (const state of states) {
    for (const event of events) {
      const decided = transition(life(state), event)
      if (!decided.ok) continue
      const held = state === 'starting' || state === 'running'
      const holds = decided.next.state === 'starting' || decided.next.state === 'running'
      const released = decided.effects.some((effect) => effect === 'release_slot' || effect === 'cool_down_slot')
      expect(released, `${state} ${event.type}`).toBe(held && !holds)
      expect(decided.effects.includes('clean_up'), `${state} ${event.type}`).toBe(terminal[decided.next.state])
    }
  }
})

test('repeated events are distinguished from invalid ones', () => {
  expect(transition(life('running'), { type: 'started', attempt: 3 })).toEqual({ ok: false, refusal: 'same' })
  expect(transition(life('committing'), { type: 'finish', attempt: 3 })).toEqual({ ok: false, refusal: 'same' })
  expect(transition(life('cancelled'), { type: 'cancel' })).toEqual({ ok: false, refusal: 'same' })
  expect(transition(life('completed'), { type: 'cancel' })).toEqual({ ok: false, refusal: 'terminal' })
})

test('the job mirrors its task; a start that is not confirmed is still waiting', () => {
  expect(states.map((state) => jobState({ state, parts: 0 }))).toEqual([
    'queued',
    'queued',
    'running',
    'running',
    'committing',
    'completed',
    'failed',
    'cancelled',
  ])
})
