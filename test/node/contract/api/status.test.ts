import { expect, test } from 'vitest'
import { newJobFacts, publicStatus, type StatusFacts } from '#contract/api/publicStatus.ts'
import type { ProgressPost } from '#contract/task/protocol.ts'

const facts = (change: Partial<StatusFacts> = {}): StatusFacts => ({
  ...newJobFacts({ jobId: 'b', warnings: [], dryRun: false, retryOf: null, inputName: 'film.mp4', createdAt: 0 }),
  job: 'running',
  task: 'running',
  ...change,
})
const progress = (change: Partial<ProgressPost> = {}): ProgressPost => ({
  phase: 'transcoding',
  transcoded: 0,
  transcode_seconds: 0,
  speed: null,
  bytes_produced: 0,
  bytes_stored: 0,
  transfer_seconds: 0,
  eta_seconds: null,
  ...change,
})

test('before anything is known, the status has the values of the samples (2.4)', () => {
  expect(publicStatus(facts({ job: 'queued', task: 'queued', position: 2 }))).toEqual({
    job_id: 'b',
    state: 'ready',
    tcode_progress: '0',
    tcode_time: null,
    tcode_speed: '-1',
    xfer_progress: '0',
    xfer_time: '0',
    xfer_speed: '-1.0',
    job_completed: false,
    phase: 'queued',
    error: null,
    warnings: [],
    outputs: [],
    dry_run: false,
    estimate: null,
    source: null,
    poster: null,
    archive_url: null,
    retry_of: null,
    input_name: 'film.mp4',
    queue_position: 2,
    failed_starts: null,
    waiting_for: null,
    chunks: null,
    eta_seconds: null,
    created_at: '1970-01-01T00:00:00.000Z',
    started_at: null,
    finished_at: null,
  })
})

test.each([
  ['queued', 'ready', false],
  ['running', 'running', false],
  ['committing', 'running', false],
  ['completed', 'ready', true],
  ['failed', 'error', true],
  ['cancelled', 'cancelled', true],
] as const)('a %s job shows state "%s"; job_completed is true in every terminal state', (job, state, completed) => {
  const task = job
  expect(publicStatus(facts({ job, task }))).toMatchObject({ state, job_completed: completed })
})

test.each([
  [0, 0, 0, '0', '0'],
  [0.009, 0, 0, '0', '0'],
  [0.5, 1000, 500, '50', '25'],
  [0.999999, 1000, 1000, '99', '99'],
  [1, 1000, 1000, '99', '99'],
])('fraction %d with %d bytes made and %d stored: %s and %s', (transcoded, produced, stored, tcode, xfer) => {
  const status = publicStatus(
    facts({ progress: progress({ transcoded, bytes_produced: produced, bytes_stored: stored }) }),
  )
  expect([status.tcode_progress, status.xfer_progress]).toEqual([tcode, xfer])
})

test('100/100 only with success (I4)', () => {
  const all = progress({ transcoded: 1, bytes_produced: 10, bytes_stored: 10 })
  expect(publicStatus(facts({ job: 'completed', task: 'completed', progress: all })).xfer_progress).toBe('100')
  expect(publicStatus(facts({ job: 'failed', task: 'failed', progress: all })).xfer_progress).toBe('99')
  // Clients that wait for "100" must not take outputs that are still being stored.
  for (const job of ['running', 'committing', 'failed', 'cancelled'] as const)
    expect(publicStatus(facts({ job, task: job, progress: all })).tcode_progress).toBe('99')
  expect(publicStatus(facts({ job: 'completed', task: 'completed', progress: all })).tcode_progress).toBe('100')
})

test('no value is ever NaN, infinite or in exponent form', () => {
  const odd = progress({
    transcoded: 0,
    speed: 1e-9,
    transfer_seconds: 1e-12,
    bytes_stored: 5,
    transcode_seconds: 1e22,
  })
  const { tcode_progress, tcode_time, tcode_speed, xfer_progress, xfer_time, xfer_speed } = publicStatus(
    facts({ progress: odd }),
  )
  for (const text of [tcode_progress, tcode_time, tcode_speed, xfer_progress, xfer_time, xfer_speed]) {
    expect(text).toMatch(/^-?\d+(\.\d+)?$/)
  }
})
