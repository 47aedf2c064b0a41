// A job is cancelled in every phase, whatever its container does: the request does not wait for the container, nothing
// of the job remains, and the slot runs the next job.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { waitFor } from '../support/testClient.ts'
import { ContainerFixture, FIRST_ATTEMPT, MINUTE_MS } from './containerFixture.ts'
import { CONTAINERS_ENABLED } from './dockerEngine.ts'
import { recordTiming } from './timings.ts'

// Skipped if CONTAINERS names no engine.
describe.skipIf(!CONTAINERS_ENABLED)('a job in a container is cancelled', () => {
  let fixture: ContainerFixture
  beforeAll(async () => {
    // One slot, so that anything a cancelled job leaves running blocks the next job.
    fixture = await ContainerFixture.open(1)
  }, 25 * MINUTE_MS)
  afterAll(() => fixture?.[Symbol.asyncDispose]())
  // Cleans up after a failed test.
  afterEach(() => fixture?.resumeSource())

  const expectCancelled = async (id: number, what: string): Promise<void> => {
    const begun = performance.now()
    const response = await fixture.service.cancel(id)
    await recordTiming(`answer to a cancel: ${what}`, performance.now() - begun)
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    expect(await fixture.service.status(id)).toMatchObject({ state: 'cancelled', job_completed: true, outputs: [] })
  }
  it('while its container starts', async () => {
    const id = await fixture.create()
    await waitFor('a start', async () => (await fixture.service.status(id))?.phase !== 'queued')
    await expectCancelled(id, 'starting')
    expect(await fixture.expectNextJobs(1)).toEqual([FIRST_ATTEMPT])
  })

  it('while its container was frozen before it could answer', async () => {
    const { id } = await fixture.startAndFreeze()
    await expectCancelled(id, 'frozen while starting')
    fixture.resumeSource()
    expect(await fixture.expectNextJobs(1)).toEqual([FIRST_ATTEMPT])
  })

  it('while it runs', async () => {
    const { id, container } = await fixture.startJob()
    await expectCancelled(id, 'running')
    // Its encoder ends although its source still holds the next bytes back.
    await waitFor('the transcoder to be idle or gone', async () => (await container.health())?.state !== 'busy')
    fixture.resumeSource()
    expect(await fixture.expectNextJobs(1)).toEqual([FIRST_ATTEMPT])
  })

  it('while its container is frozen', async () => {
    const { id, container } = await fixture.startJob()
    await container.freeze()
    await expectCancelled(id, 'frozen')
    fixture.resumeSource()
    expect(await fixture.expectNextJobs(1)).toEqual([FIRST_ATTEMPT])
    expect(await container.state()).toBeNull()
  })

  it('while it waits for a slot', async () => {
    const { id: first } = await fixture.startJob()
    const id = await fixture.create()
    await expectCancelled(id, 'waiting')
    fixture.resumeSource()
    await fixture.expectComplete(first)
    expect(await fixture.attemptSummary(first)).toEqual(FIRST_ATTEMPT)
  })
})
