// In charge of: lists, numbers and the progress line, in terminals of every width.
// Not in charge of: a real terminal (node/service/cli/terminal.long.test.ts).
import { RETENTION_DAYS } from '#contract/limits.ts'
import { errorHelp } from '#contract/errorAdvice.ts'
import { describe, expect, it, test } from 'vitest'
import { jobRead } from '../../../scripts/openapi/examples.ts'
import { describeJob, jobTable } from '../../../cli/text/describeJob.ts'
import { limitsText } from '../../../cli/text/describeLimits.ts'
import { jobProgress, TransferRate, transferProgress } from '../../../cli/text/progressState.ts'
import { renderProgress } from '../../../cli/text/progressLine.ts'
import { table } from '../../../cli/text/table.ts'
import { truncate, widthOf, wrap } from '../../../cli/text/terminal.ts'
import * as units from '../../../cli/text/formatUnits.ts'
import { publishedLimits } from '#contract/api/publishedLimits.ts'
import type { PublicStatus } from '#contract/api/status.ts'

const running: PublicStatus = {
  ...jobRead.status,
  state: 'running',
  phase: 'transcoding',
  job_completed: false,
  tcode_progress: '64',
  tcode_speed: '12.34',
  xfer_progress: '58',
  xfer_speed: '123.4',
  eta_seconds: 3723,
  outputs: [],
}

describe('the progress line', () => {
  it.each([20, 40, 60, 79, 100, 200])('fits %i columns', (width) => {
    for (const unicode of [true, false]) {
      for (const state of [
        jobProgress(running),
        jobProgress({ ...running, phase: 'queued', queue_position: 1000 }),
        transferProgress('Uploading')(123_456_789, 987_654_321, '12 of 345 files'),
      ]) {
        expect(
          widthOf(renderProgress(state, width, unicode)),
          renderProgress(state, width, unicode),
        ).toBeLessThanOrEqual(width)
      }
    }
  })

  it('shows transcode, transfer, phase and a bar in 80 columns', () => {
    const line = renderProgress(jobProgress(running), 79, true)
    expect(line).toMatch(/^Transcoding +█+░+ +64 % {2}transfer {2}58 % {2}123\.4 MB\/s/)
    expect(renderProgress(jobProgress(running), 79, false)).toMatch(/^Transcoding +#+\.+ +64 %/)
    expect(renderProgress(jobProgress(running), 100, true)).toContain('12.3x  1:02:03 left')
  })

  it('counts the parts of a divided job', () => {
    const divided = { ...running, chunks: { total: 41, completed: 12, running: 3, map: '' } }
    expect(renderProgress(jobProgress(divided), 120, true)).toContain('12 of 41 parts')
    expect(describeJob(7, { status: divided, config: jobRead.config }, 120)).toContain('transfer 58 %, 12 of 41 parts')
  })

  it('says what a job waits for', () => {
    const waiting = { ...running, phase: 'queued' as const, queue_position: 3 }
    expect(renderProgress(jobProgress(waiting), 79, true)).toBe('Queued  3 jobs ahead')
    expect(jobProgress({ ...running, phase: 'done', state: 'cancelled' }).label).toBe('Cancelled')
  })

  it('knows the pace of the last seconds', () => {
    const pace = new TransferRate(8000)
    expect(pace.add(0, 0)).toBeNull()
    expect(pace.add(1000, 1000)).toBe(1000)
    for (let second = 2; second <= 20; second += 1) pace.add(1000 + (second - 1) * 5000, second * 1000)
    expect(pace.add(1000 + 20 * 5000, 21_000)).toBe(5000)
  })

  it('draws a fraction of nothing', () => {
    expect(transferProgress('Downloading')(0, 0)).toMatchObject({ fraction: 1 })
  })
})

describe('a list', () => {
  const columns = [{ title: 'ID', right: true }, { title: 'NAME', flexible: true }, { title: 'STATE' }] as const
  const rows = [
    ['1', 'film.mp4', 'done'],
    ['1234', '映画の予告編.mp4', 'transcoding 7 %'],
    ['20', `${'long '.repeat(30)}name.mp4`, 'failed'],
  ]

  it('is aligned, also with wide characters, and fits', () => {
    for (const width of [60, 80, 120]) {
      const lines = table(columns, rows, width).split('\n')
      expect(lines).toHaveLength(4)
      const state = lines.map((line) => widthOf(line.slice(0, line.search(/(STATE|done|transcoding 7 %|failed)$/))))
      expect(new Set(state).size, lines.join('\n')).toBe(1)
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
    }
  })

  it('is whole where it is read by a program', () => {
    expect(table(columns, rows, null)).toContain(rows[2]![1])
  })

  it('cannot move the cursor', () => {
    const text = table(columns, [['1', 'a\u001B[2Jb\nc', 'x']], 80)
    expect(text).not.toContain('\u001B')
    expect(text.split('\n')).toHaveLength(2)
  })

  it('of jobs shows names and readable numbers, no address', () => {
    const job = {
      _auto_generated_id_: 7,
      job_id: 'x',
      cloud: 'vendor-store',
      updated_at: '2026-11-22T10:00:00.123Z',
      input: 'http://x.test/uploads/10',
      metadata: {},
      status: { ...running, input_name: 'film.mp4' },
    }
    const [head, line] = jobTable([job], 80).split('\n')
    expect(head).toMatch(/^ID {2}NAME +STATE +DURATION +OUTPUT {2}CREATED$/)
    expect(line).toMatch(/^ 7 {2}film\.mp4 {2}running, 64 % /)
    expect(line).not.toMatch(/http|T10:00/)
  })
})

test('a job is described in human units, its addresses whole', () => {
  const text = describeJob(1, jobRead, 80)
  expect(text).toMatch(/^Job 1 completed/)
  for (const { url } of jobRead.status.outputs) expect(text).toContain(`\n    ${url}`)
  for (const line of text.split('\n')) if (!line.includes('://')) expect(widthOf(line)).toBeLessThanOrEqual(80)
})

test('a failed job is described by its error, what to do about it and where more is said, each once', () => {
  const error = { code: 'source_damaged' as const, message: 'The index is missing.', ...errorHelp('source_damaged') }
  const status = { ...jobRead.status, state: 'error' as const, outputs: [], source: null, error }
  expect(describeJob(1, { ...jobRead, status }, 80).split('\n')).toEqual([
    'Job 1 failed: film.mp4',
    '  The index is missing. (source_damaged)',
    '  Play the source to its end. If playback stops or stutters there too, export',
    '    it again.',
    '  https://github.com/splicepoint/splicepoint/blob/main/docs/troubleshooting.md#source_damaged',
  ])
})

test('of many stills, the first are described and the others counted', () => {
  const [first] = jobRead.status.outputs
  const outputs = Array.from({ length: 9 }, (_, n) => ({ ...first!, role: 'still', path: `s_${n}.jpg`, media: null }))
  const text = describeJob(1, { ...jobRead, status: { ...jobRead.status, outputs } }, 80)
  expect(text.match(/s_\d\.jpg/g)).toEqual(['s_0.jpg', 's_1.jpg', 's_2.jpg', 's_3.jpg'])
  expect(text).toContain('5 more files')
})

test('limits are lines', () => {
  const text = limitsText(
    publishedLimits({
      maxActiveJobs: 5,
      maxStoredUploadBytes: null,
      maxSourceSeconds: null,
      requestsPerMinute: null,
      retentionDays: RETENTION_DAYS,
    }),
    80,
  )
  expect(text).toMatch(/^body_bytes +262 kB \(262144\)$/m)
  expect(text).toMatch(/^quotas\.stored_upload_bytes +no limit$/m)
  expect(text).not.toMatch(/\{"|\[object|^\S+$/m)
})

test.each([
  [units.formatBytes(0), '0 bytes'],
  [units.formatBytes(1234), '1.23 kB'],
  [units.formatBytes(999_600), '1 MB'],
  [units.formatBytesOf(1_500_000, 2_000_000_000), '0 of 2 GB'],
  [units.formatBitrate(2600), '2.6 Mbps'],
  [units.formatDuration(3661), '1 h 1 min'],
  [units.formatCountdown(59.6), '1:00'],
  [units.formatAgo('2026-11-22T10:00:00Z', Date.parse('2026-11-22T13:10:00Z')), '3 h ago'],
  [units.formatUntil('2026-11-24T10:00:00Z', Date.parse('2026-11-22T10:00:00Z')), 'in 2 days'],
  [units.formatRange({ low: 9e6, likely: 12e6, high: 15e6 }, units.formatBytes), 'about 12 MB (9 to 15 MB)'],
  [units.formatRange({ low: 9e5, likely: 12e6, high: 15e6 }, units.formatBytes), 'about 12 MB (900 kB to 15 MB)'],
  [String(units.parseSeconds('12h')), '43200'],
  [String(units.parseBytes('2GB')), '2000000000'],
  [truncate('film of the year.mp4', 8), 'film of…'],
  [wrap('one two three', 7, '  '), 'one two\n  three'],
])('%s', (text, expected) => {
  expect(text).toBe(expected)
})

test.each(['x', '12w', '-1', ''])('%j is neither a time nor a size', (text) => {
  expect(() => units.parseSeconds(text)).toThrow(/duration/)
  expect(() => units.parseBytes(text === '' ? 'GB' : `${text}x`)).toThrow(/size/)
})
