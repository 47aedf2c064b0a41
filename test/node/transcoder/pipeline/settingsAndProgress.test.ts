// In charge of: small decisions: threads, progress, complete durations, redacted messages, leftover directories.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ProgressPost, ProgressReply } from '#contract/task/protocol.ts'
import { requireExpectedDuration } from '../../../../transcoder/analysis/durationCheck.ts'
import { EngineError } from '../../../../transcoder/ffmpeg/engineError.ts'
import { redactText, StaleAttempt, toJobError } from '../../../../transcoder/errors.ts'
import { jobErrorPolicies } from '#contract/errorCodes.ts'
import { TaskError } from '#contract/taskError.ts'
import { ProgressTracker, startHeartbeat } from '../../../../transcoder/pipeline/progress.ts'
import { availableThreads, readSettings } from '../../../../transcoder/settings.ts'
import { mediaInfo } from '../../../support/transcoder/jobSpecs.ts'
import { openWorkspace, requireDiskSpace, removeStaleWorkspaces } from '../../../../transcoder/workspace.ts'

test.each([
  ['200000 100000', 8, 2],
  ['150000 100000', 8, 2],
  ['50000 100000', 8, 1],
  ['800000 100000', 8, 0],
  ['max 100000', 8, 0],
  [null, 8, 0],
  ['nonsense', 8, 0],
])('a quota of "%s" on %d cores is %d threads (0 = ffmpeg decides)', (cpuMax, cores, expected) => {
  expect(availableThreads(cores, cpuMax)).toBe(expected)
})

test('settings: loopback and any port by default; a port that is none is refused', () => {
  expect(readSettings({})).toMatchObject({ host: '127.0.0.1', port: 0, secret: null, workDir: tmpdir() })
  expect(readSettings({ HOST: '0.0.0.0', PORT: '8080', TRANSCODER_SECRET: 's' })).toMatchObject({
    host: '0.0.0.0',
    port: 8080,
    secret: 's',
  })
  expect(() => readSettings({ PORT: '70000' })).toThrow('PORT')
})

test('settings: a short drain time by default; the image sets a longer one', () => {
  expect(readSettings({}).drainSeconds).toBe(5)
  expect(readSettings({ DRAIN_SECONDS: '840' }).drainSeconds).toBe(840)
  expect(readSettings({ DRAIN_SECONDS: '0' }).drainSeconds).toBe(0)
  for (const wrong of ['-1', 'soon', '1e9'])
    expect(() => readSettings({ DRAIN_SECONDS: wrong })).toThrow('DRAIN_SECONDS')
})

test('settings: the workspace of a failed attempt is kept only with KEEP_WORK=1', () => {
  expect(readSettings({}).keepWork).toBe(false)
  expect(readSettings({ KEEP_WORK: '' }).keepWork).toBe(false)
  expect(readSettings({ KEEP_WORK: '0' }).keepWork).toBe(false)
  expect(readSettings({ KEEP_WORK: '1' }).keepWork).toBe(true)
  expect(() => readSettings({ KEEP_WORK: 'yes' })).toThrow('KEEP_WORK must be 0 or 1, not "yes".')
})

describe('progress', () => {
  test('never goes back, and 1 is said by the end alone', () => {
    let now = 0
    let stored = 0
    const progress = new ProgressTracker(
      () => ({ bytesStored: stored, transferSeconds: 2 }),
      () => now,
    )
    progress.setPhase('transcoding')
    now = 10_000
    progress.onEncoderProgress({ fraction: 0.5, speed: 2 })
    progress.setBytesProduced(1000)
    stored = 400
    expect(progress.snapshot()).toEqual({
      phase: 'transcoding',
      transcoded: 0.5,
      transcode_seconds: 10,
      speed: 2,
      bytes_produced: 1000,
      bytes_stored: 400,
      transfer_seconds: 2,
      eta_seconds: 10,
    })
    progress.onEncoderProgress({ fraction: 0.1, speed: null })
    progress.setBytesProduced(10)
    expect(progress.snapshot()).toMatchObject({ transcoded: 0.5, speed: 2, bytes_produced: 1000 })
    progress.onEncoderProgress({ fraction: 1.2, speed: 0 })
    expect(progress.snapshot().transcoded).toBe(0.999)
    progress.onEncoderProgress({ fraction: Number.NaN, speed: Number.NaN })
    expect(progress.snapshot()).toMatchObject({ transcoded: 0.999, speed: 2 })
    progress.onEncodeEnd()
    now = 99_000
    expect(progress.snapshot()).toMatchObject({ transcoded: 1, transcode_seconds: 10, eta_seconds: 0 })
  })
})

test('the attempt that puts parts together goes on where they ended', () => {
  const progress = new ProgressTracker(() => ({ bytesStored: 0, transferSeconds: 0 }))
  progress.startAt(0.9)
  expect(progress.snapshot().transcoded).toBe(0.9)
  progress.onEncoderProgress({ fraction: 0.5, speed: null })
  expect(progress.snapshot().transcoded).toBeCloseTo(0.95)
  progress.onEncodeEnd()
  expect(progress.snapshot().transcoded).toBe(1)
})

describe('the remaining time of an attempt', () => {
  function open() {
    const world = { now: 0, stored: 0, sending: 0 }
    const progress = new ProgressTracker(
      () => ({ bytesStored: world.stored, transferSeconds: world.sending }),
      () => world.now,
    )
    progress.setPhase('transcoding')
    return { world, progress }
  }

  test('is unknown before the encode, and follows its speed', () => {
    const { world, progress } = open()
    expect(progress.remainingSeconds()).toBeNull()
    world.now = 10_000
    progress.onEncoderProgress({ fraction: 0.004, speed: 1 })
    expect(progress.remainingSeconds()).toBeNull()
    world.now = 100_000
    progress.onEncoderProgress({ fraction: 0.5, speed: 1 })
    expect(progress.remainingSeconds()).toBe(100)
  })

  test('believes the last seconds where they are slower than the whole, and never where they are faster', () => {
    const { world, progress } = open()
    for (let second = 1; second <= 100; second++) {
      world.now = second * 1000
      progress.onEncoderProgress({ fraction: second / 200, speed: 1 })
    }
    // A tenth as fast from now on: after the window, only that counts.
    for (let second = 101; second <= 130; second++) {
      world.now = second * 1000
      progress.onEncoderProgress({ fraction: 0.5 + (second - 100) / 2000, speed: 0.1 })
    }
    expect(progress.remainingSeconds()).toBeCloseTo(0.485 * 2000)
    for (let second = 131; second <= 160; second++) {
      world.now = second * 1000
      progress.onEncoderProgress({ fraction: 0.515 + (second - 130) / 100, speed: 10 })
    }
    // 160 s for 0.815.
    expect(progress.remainingSeconds()).toBeCloseTo((160 * 0.185) / 0.815)
  })

  test('is unknown while nothing goes on', () => {
    const { world, progress } = open()
    world.now = 10_000
    progress.onEncoderProgress({ fraction: 0.5, speed: 1 })
    world.now = 12_000
    expect(progress.remainingSeconds()).toBe(12)
    world.now = 40_000
    progress.onEncoderProgress({ fraction: 0.5, speed: 1 })
    expect(progress.remainingSeconds()).toBeNull()
  })

  test('lasts until what is produced has been sent, at the rate of the transfers so far', () => {
    const { world, progress } = open()
    world.now = 100_000
    progress.onEncoderProgress({ fraction: 0.5, speed: 1 })
    progress.setBytesProduced(1e9)
    // Nothing is sent yet: 5 MB/s are assumed.
    expect(progress.remainingSeconds()).toBe(2e9 / 5e6)
    world.stored = 5e8
    world.sending = 5
    expect(progress.remainingSeconds()).toBe(100)
    progress.onEncodeEnd()
    expect(progress.remainingSeconds()).toBe(5)
    world.stored = 1e9
    world.sending = 10
    expect(progress.remainingSeconds()).toBe(0)
  })
})

describe('the heartbeat', () => {
  function beat(post: (body: ProgressPost) => Promise<ProgressReply>, now = () => 0) {
    return new Promise<string>((resolve) => {
      const progress = new ProgressTracker(() => ({ bytesStored: 0, transferSeconds: 0 }))
      const stop = startHeartbeat(
        post,
        progress,
        {
          onInstruction: (instruction) => (stop(), resolve(instruction)),
          onTimeout: () => (stop(), resolve('unheard')),
        },
        { everyMs: () => 0, now },
      )
    })
  }

  test('passes on what the answer says', async () => {
    let posts = 0
    expect(await beat(async () => ({ instruction: ++posts < 3 ? 'continue' : 'cancel' }))).toBe('cancel')
    expect(posts).toBe(3)
  })

  test('the heartbeat of a stale attempt returns `stop`', async () => {
    expect(await beat(() => Promise.reject(new StaleAttempt()))).toBe('stop')
  })

  test('60 s without an answer end the run, one answer in between does not', async () => {
    let posts = 0
    const instruction = await beat(
      () => (++posts === 50 ? Promise.resolve({ instruction: 'continue' }) : Promise.reject(new Error('away'))),
      () => posts * 1000,
    )
    expect(instruction).toBe('unheard')
    expect(posts).toBe(111)
  })
})

describe('whole length (I6: one frame, or 0.1 %)', () => {
  const output = { path: 'a.mp4', frameSeconds: 0.04 }
  const check = (expected: number | null, measured: number | null, formats = ['mov', 'mp4'], rate = {}) => {
    try {
      requireExpectedDuration(output, expected, { durationSeconds: measured }, { ...mediaInfo(rate), formats })
      return 'whole'
    } catch (error) {
      return (error as TaskError).code
    }
  }
  test.each([
    [10, 10, 'whole'],
    [10, 9.96, 'whole'],
    [10, 9.9, 'output_incomplete'],
    [1000, 999.01, 'whole'],
    [1000, 998.9, 'output_incomplete'],
    [10, 10.3, 'whole'], // a longer result lost nothing: the header may understate the duration
    [10, 0, 'output_incomplete'],
    [10, null, 'output_incomplete'],
    [null, 7, 'whole'],
  ])('%s s expected, %s s measured: %s', (expected, measured, verdict) => {
    expect(check(expected, measured)).toBe(verdict)
  })
  test('the last frame of a variable rate may last longer than its packet', () => {
    const variable = { variableFrameRate: true }
    expect([0.2, 0.4].map((missing) => check(10, 10 - missing, ['mp4'], variable))).toEqual([
      'whole',
      'output_incomplete',
    ])
  })
  test('an elementary stream has only an estimate', () => {
    expect(check(10, 8, ['h264'])).toBe('whole')
  })
})

describe('redaction of error messages', () => {
  test('carry no token, no loopback address and no path', () => {
    const text =
      'token-abcdef at http://127.0.0.1:4242/0123abcd/input, file:/tmp/splicepoint-1/out/0.mp4: Permission denied (/var/x/y)'
    const clean = redactText(text, ['token-abcdef'])
    expect(clean).toBe('*** at [local] [path]: Permission denied ([path])')
  })
  test('ordinary sentences and addresses of others stay as they are', () => {
    const text = 'The rate 30000/1001 is not one of 24/1, 25/1; see https://example.com/a/b and and/or.'
    expect(redactText(text)).toBe(text)
  })
  test('known errors keep their code; unknown ones are internal', () => {
    expect(toJobError(new TaskError('source_not_found', 'Gone.', { details: { path: '/tmp/x/y' } }))).toEqual({
      code: 'source_not_found',
      message: 'Gone.',
      details: { path: '[path]' },
    })
    expect(toJobError(new TaskError('no_video', 'No video.', { field: 'input' }))).toEqual({
      code: 'no_video',
      message: 'No video.',
      field: 'input',
    })
    const unknown = toJobError(new TypeError('cannot read /root/secret/file of token-abcdef'), ['token-abcdef'])
    expect(unknown.code).toBe('internal')
    expect(unknown.message).toContain('TypeError: cannot read [path] of ***')
  })
})

test.each([
  ['killed', 'encoder_killed'],
  ['output_too_large', 'output_too_large'],
  ['output_broken', 'encoder_failed'],
] as const)('an engine error “%s” ends a job as %s', (reason, code) => {
  expect(toJobError(new EngineError(reason, 'It ended.'))).toEqual({ code, message: 'It ended.' })
})

test('a task whose encoder was killed from outside is tried again', () => {
  expect(jobErrorPolicies.encoder_killed.permanent).toBe(false)
})

test('a workspace is private, removed, and only dead ones are swept', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sweep-test-'))
  const live = await openWorkspace(directory)
  expect((await stat(live.root)).mode & 0o777).toBe(0o700)
  await mkdir(join(directory, 'splicepoint-999999999-1-abc/out'), { recursive: true })
  await mkdir(join(directory, `splicepoint-${process.pid}-1-reused`)) // our process id, but of a process with another start time
  await mkdir(join(directory, 'something-else'))
  expect(await removeStaleWorkspaces(directory)).toBe(2)
  expect(new Set(await readdir(directory))).toEqual(new Set(['something-else', live.root.split('/').at(-1)]))
  await live.remove()
  expect(await readdir(directory)).toEqual(['something-else'])
  await rm(directory, { recursive: true })
})

test('a kept workspace stays under the name of its attempt, also when later transcoders start', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keep-test-'))
  const workspace = await openWorkspace(directory)
  await writeFile(join(workspace.out, 'v0.mp4'), 'unfinished')
  const kept = await workspace.keep('task/1-2')
  expect(basename(kept)).toMatch(/^kept-task_1-2-/)
  expect(await removeStaleWorkspaces(directory)).toBe(0)
  expect(await readdir(directory)).toEqual([basename(kept)])
  expect(await readFile(join(kept, 'out/v0.mp4'), 'utf8')).toBe('unfinished')
  expect((await stat(kept)).mode & 0o777).toBe(0o700)
  await rm(directory, { recursive: true })
})

test('outputs that cannot fit are refused before the work', async () => {
  await requireDiskSpace(tmpdir(), 1000)
  await expect(requireDiskSpace(tmpdir(), 1e18)).rejects.toMatchObject({ code: 'disk_full' })
})
