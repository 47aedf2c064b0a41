// In charge of: work that starts before the task is known: the source is opened and ffprobe starts; both are discarded
// if the service answers that the attempt is over.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Attempt } from '../../../../transcoder/attempt.ts'
import { TaskClient } from '../../../../transcoder/taskApi/taskClient.ts'
import { LoopbackServer } from '../../../../transcoder/source/loopbackServer.ts'
import { HeadStart } from '../../../../transcoder/pipeline/headStart.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import { describeTask, makeSourceClip, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const bench = await useAttemptFixture()
let clip: Buffer
const door = useTaskApi(() => clip)

beforeAll(async () => {
  clip = await makeSourceClip(bench, 2)
})
beforeEach(() => {
  door.task = describeTask({ container: 'mp4' })
})

test('the source is opened and ffprobe starts while the task is asked for', async () => {
  // Reports its start to a separate address of the fake task API, then runs ffprobe.
  const ffprobe = join(bench.directory, 'telling-ffprobe')
  const tell = `(exec 3<>/dev/tcp/127.0.0.1/${new URL(door.url).port}; printf 'GET /task/t-1/logo HTTP/1.0\\r\\nauthorization: Bearer ${door.token}\\r\\n\\r\\n' >&3; cat <&3 >/dev/null)`
  await writeFile(ffprobe, `#!/bin/bash\n${tell}\nexec '${bench.engine.ffprobe}' "$@"\n`, { mode: 0o755 })
  door.faults.task = async () => {
    await door.waitFor(() => door.counts.has('input') && door.counts.has('logo'))
    return false
  }
  await runTask(runRequest(door), { ...bench.context(), engine: { ...bench.engine, ffprobe } })
  expect(door.finished?.objects).toHaveLength(1)
  expect(door.inputRanges[0]).toMatch(/^bytes=0-/)
  expect(door.breaches).toEqual([])
})

test('a source that cannot be opened is reported once the task is known', async () => {
  door.faults.input = ({ response }) => {
    sendJson(response, 404, { error: { code: 'source_not_found', message: 'It is not there.' } })
    return true
  }
  door.faults.task = async () => {
    await door.waitFor(() => door.counts.has('input'))
    return false
  }
  await runTask(runRequest(door), bench.context())
  expect(door.fails).toMatchObject([{ reason: 'failed', error: { code: 'source_not_found' } }])
  expect(await bench.workDirEntries()).toEqual([])
})

test('an attempt that is over says nothing of its source', async () => {
  door.faults.input = ({ response }) => {
    sendJson(response, 404, { error: { code: 'source_not_found', message: 'It is not there.' } })
    return true
  }
  door.faults.task = async ({ response }) => {
    await door.waitFor(() => door.counts.has('input'))
    sendJson(response, 409, { error: { code: 'stale_attempt', message: 'Another attempt is current.' } })
    return true
  }
  await runTask(runRequest(door), bench.context())
  expect(door.fails).toEqual([])
  expect(await bench.workDirEntries()).toEqual([])
})

test('where the task kept it waiting for too long, another ffprobe is asked', async () => {
  const client = new TaskClient({ base: door.url, taskId: 't-1', token: door.token })
  const halt = new AbortController()
  const gateway = await LoopbackServer.start(
    (range, etag, signal) => client.fetchInput(range, etag, signal),
    halt.signal,
    (reason) => halt.abort(reason),
  )
  try {
    const runs: (number | null)[] = []
    const engine = { ...bench.engine, onRun: () => (end: { code: number | null }) => void runs.push(end.code) }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no more of an attempt is used
    const attempt = {
      engine,
      loopback: gateway,
      workspace: { cwd: bench.directory, out: bench.directory },
      controller: halt,
    } as unknown as Attempt
    const start = new HeadStart(attempt, 0)
    expect((await start.probe(null)).formats).toContain('mp4')
    // The first run was ended before it had read anything.
    expect(runs).toEqual([null, 0])
    expect(await start.elementaryStream(null)).toBeNull()
    expect(halt.signal.aborted).toBe(false)
  } finally {
    await gateway.close()
  }
})
