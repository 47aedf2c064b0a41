// In charge of: single files of a divided job: those of one task.
// Not in charge of: other codecs and sources (dividedFiles.long.test.ts), segments (dividedOutput.test.ts).
import { describe, expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import { makeSourceClip, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameFiles, filesTask } from '../../../support/transcoder/comparedFiles.ts'
import { runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()

test('an mp4 of h.264 and aac', async () => {
  const source = await makeSourceClip(fixture, 6)
  const compared = await compareDivision(fixture, filesTask({ audio_output_path: 'sound' }), { source, chunks: [0, 1] })
  await expectSameFiles(fixture, compared)
  const [alone, divided] = [compared.alone, compared.divided].map(({ finished }) => finished!.objects)
  const factsOf = (objects: typeof alone) =>
    objects!.map(({ path, role, media }) => [path, role, media?.duration_seconds])
  expect(factsOf(divided)).toEqual(factsOf(alone))
})

describe('the attempt that copies', () => {
  const taskApi = useTaskApi(() => Buffer.alloc(0))
  const clip = makeSourceClip(fixture, 6)

  async function divided(beforeAssembly: () => void): Promise<void> {
    taskApi.source = { bytes: await clip }
    await runDividedJob(fixture, taskApi, filesTask({}), { chunks: [0, 1], beforeAssembly })
    expect(taskApi.breaches).toEqual([])
  }

  test('needs no source, and asks again for what did not arrive', async () => {
    await divided(() => {
      taskApi.faults.input = ({ response }) => sendJson(response, 404, {}) === undefined
      taskApi.faults.work = ({ response, n }) => n % 2 === 1 && sendJson(response, 503, {}) === undefined
    })
    expect(taskApi.fails).toEqual([])
    expect(taskApi.finished?.objects).toHaveLength(1)
  })

  test('uses nothing of one that was lost', async () => {
    let reads = 0
    await divided(() => {
      taskApi.faults.work = ({ response }) => (reads += 1) === 2 && sendJson(response, 404, {}) === undefined
    })
    expect(taskApi.fails).toMatchObject([{ reason: 'failed' }])
    expect(taskApi.finished).toBeNull()
    taskApi.task = { ...taskApi.task!, attempt: 3 }
    await runTask(runRequest(taskApi, 3), fixture.context())
    expect(taskApi.fails).toHaveLength(1)
    expect(taskApi.finished?.objects).toHaveLength(1)
  })

  test('never copies bytes that are not those stored', async () => {
    await divided(() => {
      const [name] = [...taskApi.work.keys()].filter((each) => each.includes('video_0.1.'))
      const bytes = Buffer.from(taskApi.work.get(name!)!)
      bytes[bytes.length - 1]! ^= 1
      taskApi.work.set(name!, bytes)
    })
    expect(taskApi.fails).toMatchObject([
      { reason: 'failed', error: { code: 'internal', message: expect.stringContaining('has changed') as string } },
    ])
    expect(taskApi.finished).toBeNull()
  })
})
