// In charge of: whole attempts with the real ffmpeg against the strict task API: the outputs are probed and decoded,
// and every kind of end is reported.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { jobErrorPolicies } from '#contract/errorCodes.ts'
import { AttemptAbort } from '../../../transcoder/errors.ts'
import { probe } from '../../../transcoder/analysis/probe.ts'
import { runTask, type RunContext } from '../../../transcoder/runTask.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { sendJson, type FaultInjector } from '../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  makeSourceClip,
  findFfmpegProcesses,
  runRequest,
} from '../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../support/transcoder/useAttempts.ts'
import { sampled } from '../../support/longForm.ts'

const run = promisify(execFile)
const fixtures = await useAttemptFixture()
let clip: Buffer
let medium: Buffer
let long: Buffer
const taskApi = useTaskApi(() => clip)

beforeAll(async () => {
  ;[clip, medium, long] = await Promise.all([
    makeSourceClip(fixtures, 4),
    makeSourceClip(fixtures, 8),
    makeSourceClip(fixtures, 120),
  ])
})

/** After any end: no files, no ffmpeg process, no secret in the log, no violation of the protocol. */
async function expectClean(): Promise<void> {
  expect(await fixtures.workDirEntries()).toEqual([])
  expect(await findFfmpegProcesses(fixtures.workDir)).toEqual([])
  expect(fixtures.lines.join('')).not.toContain(taskApi.token)
  expect(fixtures.lines.join('')).not.toMatch(/127\.0\.0\.1:\d+\/[0-9a-f]{32}/)
  expect(taskApi.breaches).toEqual([])
}

async function decode(name: string, bytes: Buffer): Promise<{ seconds: number; frames: number }> {
  const file = join(fixtures.directory, name)
  await writeFile(file, bytes)
  const media = await probe(fixtures.engine, `file:${file}`, { cwd: fixtures.directory })
  const { stdout, stderr } = await run(
    fixtures.engine.ffmpeg,
    `-nostdin -v error -progress pipe:1 -i ${file} -f null -`.split(' '),
  )
  expect(stderr).toBe('')
  const frames = [...stdout.matchAll(/^frame=\s*(\d+)$/gm)].map((match) => Number(match[1]))
  return { seconds: media.durationSeconds ?? 0, frames: frames.at(-1) ?? 0 }
}

const running = () => taskApi.beats.some((beat) => beat.phase === 'transcoding' && beat.transcoded > 0)

describe('success', () => {
  test('separate audio files arrive with the output, from the same run', async () => {
    taskApi.task = describeTask({ container: 'mp4', bitrates: [400] })
    taskApi.task.config.audio_output_path = 'sound/'
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toEqual([])
    const objects = taskApi.objects()
    expect([...objects.keys()]).toEqual(['out/v0.mp4', 'sound/clip_audio_0.m4a'])
    expect((await decode('own.m4a', objects.get('sound/clip_audio_0.m4a')!)).seconds).toBeCloseTo(4, 1)
    expect(taskApi.finished).toMatchObject({
      objects: [{ profile: 0 }, { profile: null, role: 'media', content_type: 'audio/mp4' }],
    })
    await expectClean()
  })

  test.each(sampled(['mp4', 'ts'] as const, 1))('two %s renditions arrive whole', async (container) => {
    taskApi.task = describeTask({ container, bitrates: [400, 200] })
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toEqual([])
    const objects = taskApi.objects()
    expect([...objects.keys()]).toEqual([`out/v0.${container}`, `out/v1.${container}`])
    for (const bytes of objects.values()) {
      const { seconds, frames } = await decode(`whole.${container}`, bytes)
      expect(frames).toBe(100)
      expect(Math.abs(seconds - 4)).toBeLessThan(0.1)
    }
    expect(taskApi.finished).toMatchObject({
      objects: [
        { role: 'media', profile: 0 },
        { role: 'media', profile: 1 },
      ],
      progress: { phase: 'uploading', transcoded: 1 },
    })
    const { bytes_produced: produced, bytes_stored: stored } = taskApi.finished!.progress
    expect(stored).toBe(produced)
    expect(stored).toBe([...objects.values()].reduce((sum, bytes) => sum + bytes.length, 0))
    expect(taskApi.plans).toHaveLength(1)
    await expectClean()
  })

  test('bytes read for the probe are not requested again for the encode', async () => {
    let asked = 0
    taskApi.task = describeTask({ container: 'mp4' })
    taskApi.faults.plan = () => {
      asked = taskApi.inputRanges.length
      return false
    }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toEqual([])
    expect([asked > 0, taskApi.inputRanges.length]).toEqual([true, asked])
  })

  test('a source that fails on every second read changes nothing but time', async () => {
    taskApi.task = describeTask({ container: 'mp4' })
    taskApi.faults.input = ({ request, response, n }) => {
      if (n % 2 === 0) return false
      if (n % 4 === 1) sendJson(response, 503, { error: { code: 'unavailable', message: 'later' } })
      else taskApi.input(request, response, 20_000)
      return true
    }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toEqual([])
    expect((await decode('flaky.mp4', taskApi.objects().get('out/v0.mp4')!)).frames).toBe(100)
    await expectClean()
  })

  test('the plan that an earlier attempt stored is followed, not made again', async () => {
    taskApi.task = describeTask({ container: 'ts' })
    await runTask(runRequest(taskApi), fixtures.context())
    const stored = structuredClone(taskApi.storedPlan) as Plan
    stored.outputs[0]!.path = 'out/of-the-first-plan.ts'
    taskApi.task = { ...taskApi.task, attempt: 2, plan: stored }
    await runTask(runRequest(taskApi, 2), fixtures.context())
    expect(taskApi.counts.get('plan')).toBe(1)
    expect((await decode('again.ts', taskApi.objects().get('out/of-the-first-plan.ts')!)).frames).toBe(100)
  })

  test('the plan names its ffmpeg, and an attempt with another build of the same features follows it', async () => {
    const { version, build, features } = fixtures.engine
    taskApi.task = describeTask({ container: 'ts' })
    await runTask(runRequest(taskApi), fixtures.context())
    const stored = structuredClone(taskApi.storedPlan) as Plan
    expect(stored.engine).toEqual({ version, build, features })
    stored.engine = { version: 'n9.9', build: '0123456789abcdef', features: { ...features } }
    stored.outputs[0]!.path = 'out/of-the-first-plan.ts'
    taskApi.task = { ...taskApi.task, attempt: 2, plan: stored }
    await runTask(runRequest(taskApi, 2), fixtures.context())
    expect(taskApi.counts.get('plan')).toBe(1)
    expect([...taskApi.objects().keys()]).toContain('out/of-the-first-plan.ts')
    expect(fixtures.lines.join('')).toContain('"planned_with":"n9.9 (0123456789abcdef)"')
  })

  test('a plan that needs what this ffmpeg lacks is made again and replaces the stored one', async () => {
    taskApi.task = describeTask({ container: 'ts' })
    await runTask(runRequest(taskApi), fixtures.context())
    const stored = structuredClone(taskApi.storedPlan) as Plan
    stored.engine!.features['aFeatureOfTheFuture'] = true
    // It could not be carried out.
    stored.outputs[0]!.video.frameRate = { num: 1, den: 1000 }
    taskApi.task = { ...taskApi.task, attempt: 2, plan: stored }
    await runTask(runRequest(taskApi, 2), fixtures.context())
    expect(taskApi.fails).toEqual([])
    expect(taskApi.plans.map(({ replaces }) => replaces)).toEqual([undefined, true])
    expect((taskApi.storedPlan as Plan).engine!.features).toEqual(fixtures.engine.features)
    expect((await decode('replanned.ts', taskApi.objects().get('out/v0.ts')!)).frames).toBe(100)
    // A service that does not replace plans answers with the one that does not fit.
    taskApi.faults.plan = ({ response }) => {
      sendJson(response, 200, { plan: stored })
      return true
    }
    await runTask(runRequest(taskApi, 2), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ error: { code: 'protocol_mismatch' } }])
  })

  test('a plan of another version is made again', async () => {
    taskApi.task = { ...describeTask({ container: 'ts' }), attempt: 2, plan: { version: 1, outputs: [] } }
    await runTask(runRequest(taskApi, 2), fixtures.context())
    expect(taskApi.fails).toEqual([])
    expect(taskApi.plans.map(({ replaces }) => replaces)).toEqual([true])
    // A service that does not replace plans.
    taskApi.faults.plan = ({ response }) => {
      sendJson(response, 200, { plan: { version: 1, outputs: [] } })
      return true
    }
    await runTask(runRequest(taskApi, 2), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ error: { code: 'protocol_mismatch' } }])
  })

  test('the plan returned by the task API is followed, even if it is a different one', async () => {
    taskApi.task = describeTask({ container: 'ts' })
    await runTask(runRequest(taskApi), fixtures.context())
    ;(taskApi.storedPlan as Plan).outputs[0]!.path = 'out/of-the-first-writer.ts'
    await runTask(runRequest(taskApi), fixtures.context())
    expect([...taskApi.objects().keys()]).toEqual(['out/of-the-first-writer.ts'])
  })

  test('an mp4 header that outgrows its reserved space is detected, and the encode is repeated', async () => {
    taskApi.task = describeTask({ container: 'mp4' })
    taskApi.faults.plan = async ({ request, response }) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { plan } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { plan: Plan }
      plan.outputs[0]!.headerReserveBytes = 600
      sendJson(response, 200, { plan })
      return true
    }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toEqual([])
    expect(fixtures.lines.join('')).toContain('encoding again')
    expect((await decode('again.mp4', taskApi.objects().get('out/v0.mp4')!)).frames).toBe(100)
    await expectClean()
  })

  test('progress never goes back and says 1 only at the end', async () => {
    taskApi.task = describeTask({ container: 'mp4', bitrates: [400, 300, 200], quality: 'best' })
    taskApi.source = { bytes: medium }
    await runTask(runRequest(taskApi), fixtures.context())
    const fractions = taskApi.beats.map((beat) => beat.transcoded)
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b))
    const encoding = taskApi.beats.filter((beat) => beat.phase === 'transcoding').map((beat) => beat.transcoded)
    expect(Math.max(...encoding)).toBeLessThan(1)
    expect(running()).toBe(true)
    await expectClean()
  })
})

describe('failure is reported once, by its code', () => {
  test.each([
    ['text', Buffer.from('this is not a film\n'.repeat(1000)), 'source_not_media'],
    ['an empty file', Buffer.alloc(0), 'source_not_media'],
    // Only a playlist fetched by http is treated as one, and only by the Worker: ffmpeg never opens an address in it.
    ['an uploaded playlist', Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'), 'source_not_media'],
  ])('%s', async (_name, bytes, code) => {
    taskApi.source = { bytes }
    taskApi.task = describeTask({ container: 'mp4' })
    taskApi.task.config.cloud_credentials.input!.cloud_provider = 'file-upload'
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code } }])
    expect(taskApi.finished).toBeNull()
    await expectClean()
  })

  test('a missing source, with the message of the task API', async () => {
    taskApi.task = describeTask({ container: 'mp4' })
    taskApi.faults.input = ({ response }) => {
      response.setHeader('x-source-error', 'source_not_found')
      sendJson(response, 404, { error: { code: 'not_found', message: 'There is no object films/a.mp4.' } })
      return true
    }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([
      { reason: 'failed', error: { code: 'source_not_found', message: 'There is no object films/a.mp4.' } },
    ])
    await expectClean()
  })

  test('a source that breaks off permanently half way never succeeds, whatever ffmpeg’s exit code', async () => {
    const ts = await makeSourceClip(fixtures, 4, 'ts')
    taskApi.source = { bytes: ts }
    taskApi.task = describeTask({ container: 'ts' })
    const context = fixtures.context()
    context.source = { ...context.source, rangeBytes: 64 * 1024, retryForMs: 30, maxCacheBytes: 0 }
    // The probe gets everything; the encode, which must read again, meets the gap.
    taskApi.faults.plan = () => {
      taskApi.faults.input = ({ request, response }) => {
        if (Number(/\d+/.exec(request.headers.range!)![0]) < ts.length / 2) return false
        response.destroy()
        return true
      }
      return false
    }
    await runTask(runRequest(taskApi), context)
    expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'source_unreachable' } }])
    expect(taskApi.finished).toBeNull()
    await expectClean()
  })

  /** The plan has a duration of five seconds for a source of four. */
  const planLonger: FaultInjector = async ({ request, response }) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { plan } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { plan: Plan }
    const outputs = plan.outputs.map((output) => ({ ...output, durationSeconds: 5 }))
    sendJson(response, 200, { plan: { ...plan, outputs } })
    return true
  }

  test('an output shorter than its plan is incomplete', async () => {
    taskApi.task = describeTask({ container: 'mp4' })
    taskApi.faults.plan = planLonger
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ error: { code: 'output_incomplete', details: { expected_seconds: 5 } } }])
    await expectClean()
  })

  test('and so is one whose upload is under way when that is found', async () => {
    taskApi.task = describeTask({ container: 'mp4' })
    taskApi.faults.plan = planLonger
    // Never answered: the upload ends with the discarded encode.
    taskApi.faults.uploads = () => true
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ error: { code: 'output_incomplete', details: { expected_seconds: 5 } } }])
    await expectClean()
  })

  test('an audio stream that is not there, from planning', async () => {
    taskApi.task = describeTask({ container: 'mp4' })
    taskApi.task.config.audioProfiles[0]!.source_stream = '3'
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ error: { code: 'audio_stream_missing' } }])
    await expectClean()
  })

  test('a store that refuses ends the encode', async () => {
    taskApi.task = describeTask({ container: 'ts' })
    taskApi.faults.uploads = ({ response }) => {
      sendJson(response, 403, { error: { code: 'output_forbidden', message: 'The bucket refused.' } })
      return true
    }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ error: { code: 'output_forbidden', message: 'The bucket refused.' } }])
    await expectClean()
  })

  test.each(['plan', 'uploads', 'finish'] as const)(
    'a /%s that the service does not take: the job ends with its sentence, and is not encoded again',
    async (operation) => {
      taskApi.task = describeTask({ container: 'ts' })
      taskApi.faults[operation] = ({ response }) => {
        sendJson(response, 400, { error: { code: 'invalid_request', message: `The ${operation} is none.` } })
        return true
      }
      await runTask(runRequest(taskApi), fixtures.context())
      expect(taskApi.counts.get(operation)).toBe(1)
      expect(taskApi.fails).toMatchObject([
        { reason: 'failed', error: { code: 'task_refused', message: `The ${operation} is none.` } },
      ])
      expect(jobErrorPolicies.task_refused.permanent).toBe(true)
      await expectClean()
    },
  )

  test('a task that outlasts its attempt', async () => {
    taskApi.task = {
      ...describeTask({ container: 'mp4', quality: 'best', bitrates: [400, 300, 200] }),
      max_attempt_ms: 300,
    }
    taskApi.source = { bytes: long }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ error: { code: 'too_long_for_one_attempt' } }])
    await expectClean()
  })

  const tooLong = {
    code: 'source_too_long',
    message: expect.stringMatching(/^The outputs would last \d+ s or more; this service makes at most 2 s /) as string,
  }

  test('a source of more seconds than the service takes; a part of it is taken', async () => {
    taskApi.task = { ...describeTask({ container: 'mp4' }), max_source_seconds: 2 }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails.splice(0)).toMatchObject([{ error: tooLong }])
    expect(taskApi.plans).toEqual([])
    taskApi.task.config.end_seconds = 2
    await runTask(runRequest(taskApi), fixtures.context())
    expect([taskApi.fails, taskApi.finished?.objects.length]).toEqual([[], 1])
    await expectClean()
  })

  test('and one that does not say how long it is, while it is encoded', async () => {
    const [file, endless] = [join(fixtures.directory, 'long.mp4'), join(fixtures.directory, 'endless.mkv')]
    await writeFile(file, long)
    await run(fixtures.engine.ffmpeg, `-v error -i ${file} -c copy -f matroska -live 1 ${endless}`.split(' '))
    taskApi.source = { bytes: await readFile(endless) }
    taskApi.task = { ...describeTask({ container: 'mp4' }), max_source_seconds: 2 }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toMatchObject([{ error: tooLong }])
    expect(taskApi.plans).toMatchObject([{ plan: { durationSeconds: null } }])
    await expectClean()
  })

  test('with KEEP_WORK=1 the workspace of a failed attempt stays, and that of a successful one does not', async () => {
    const context = fixtures.context()
    const keeping = { ...context, settings: { ...context.settings, keepWork: true } }
    taskApi.task = { ...describeTask({ container: 'mp4' }), max_attempt_ms: 1 }
    await runTask(runRequest(taskApi), keeping)
    expect(taskApi.fails).toMatchObject([{ error: { code: 'too_long_for_one_attempt' } }])
    const [kept = '', ...others] = await fixtures.workDirEntries()
    expect(others).toEqual([])
    expect(kept).toMatch(/^kept-t-0-1-/)
    expect(fixtures.lines.join('')).toContain(`"directory":"${kept}"`)
    await rm(join(fixtures.workDir, kept), { recursive: true })

    taskApi.task = describeTask({ container: 'mp4' })
    await runTask(runRequest(taskApi), { ...keeping, controller: new AbortController() })
    expect(taskApi.finished).not.toBeNull()
    await expectClean()
  })
})

describe('being ended from outside, in the middle of an encode', () => {
  async function startLong(more: Partial<RunContext> = {}): Promise<{ ended: Promise<void>; halt: AbortController }> {
    taskApi.task = describeTask({ container: 'mp4', quality: 'best', bitrates: [400, 300, 200] })
    taskApi.source = { bytes: long }
    const context = { ...fixtures.context(), ...more }
    const ended = runTask(runRequest(taskApi), context)
    await taskApi.waitFor(running)
    expect(await findFfmpegProcesses(fixtures.workDir)).not.toEqual([])
    return { ended, halt: context.controller }
  }

  test('cancel, by a heartbeat reply: ffmpeg has ended before the task API is informed', async () => {
    const { ended } = await startLong()
    let alive: number[] | null = null
    taskApi.faults.fail = async () => {
      alive = await findFfmpegProcesses(fixtures.workDir)
      return false
    }
    taskApi.instruction = 'cancel'
    await ended
    expect(alive).toEqual([])
    expect(taskApi.fails).toMatchObject([{ reason: 'cancelled' }])
    expect(taskApi.finished).toBeNull()
    await expectClean()
  })

  test.each([
    ['a heartbeat says stop', () => void (taskApi.instruction = 'stop')],
    [
      'a heartbeat is answered 409',
      () =>
        void (taskApi.faults.progress = ({ response }) => {
          sendJson(response, 409, { error: { code: 'stale_attempt', message: 'newer' } })
          return true
        }),
    ],
  ])('%s: the run ends and says nothing more', async (_name, act) => {
    const { ended } = await startLong()
    act()
    await ended
    const requests = [...taskApi.counts.values()].reduce((sum, count) => sum + count, 0)
    expect(taskApi.fails).toEqual([])
    expect(taskApi.finished).toBeNull()
    await expectClean()
    expect([...taskApi.counts.values()].reduce((sum, count) => sum + count, 0)).toBe(requests)
  })

  test('the end of the process gives the task back', async () => {
    const { ended, halt } = await startLong()
    halt.abort(new AttemptAbort('interrupted'))
    await ended
    expect(taskApi.fails).toMatchObject([{ reason: 'interrupted' }])
    await expectClean()
  })

  test('an attempt whose heartbeats get no reply ends by itself, with its ffmpeg', async () => {
    const { ended } = await startLong({ heartbeatTimeoutMs: 0 })
    taskApi.faults.progress = ({ response }) => {
      response.destroy()
      return true
    }
    await ended
    expect(taskApi.finished).toBeNull()
    expect(taskApi.fails).toMatchObject([
      { reason: 'failed', error: { code: 'internal', message: expect.stringContaining('heartbeats') } },
    ])
    await expectClean()
  })

  test('a wrong task API address or a finished job causes no report', async () => {
    taskApi.faults.task = ({ response }) => {
      sendJson(response, 401, { error: { code: 'unauthorized', message: 'over' } })
      return true
    }
    await runTask(runRequest(taskApi), fixtures.context())
    expect(taskApi.fails).toEqual([])
    await expectClean()
  })
})
