// A job is cancelled in every phase, and whatever its container does: the answer does not wait for it, nothing of the job is
// left, and the slot serves the next job.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/testClient.ts'
import { Bench, FIRST, MINUTE_MS } from './containerFixture.ts'
import { isWanted } from './dockerEngine.ts'
import { took } from './timings.ts'

// CONTAINERS names no engine: skipped.
describe.skipIf(!isWanted)('a job in a container is cancelled', () => {
  let bench: Bench
  beforeAll(async () => {
    // One slot: whatever a cancelled job leaves behind is in the way of the next.
    bench = await Bench.open(1)
  }, 25 * MINUTE_MS)
  afterAll(() => bench?.[Symbol.asyncDispose]())
  // Whatever a test that failed has left behind.
  afterEach(() => bench?.release())

  const expectCancelled = async (id: number, what: string): Promise<void> => {
    const begun = performance.now()
    const response = await bench.lab.cancel(id)
    await took(`answer to a cancel: ${what}`, performance.now() - begun)
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    expect(await bench.lab.status(id)).toMatchObject({ state: 'cancelled', job_completed: true, outputs: [] })
  }
  it('while its container starts', async () => {
    const id = await bench.create()
    await until('a start', async () => (await bench.lab.status(id))?.phase !== 'queued')
    await expectCancelled(id, 'starting')
    expect(await bench.next(1)).toEqual([FIRST])
  })

  it('while its container was frozen before it could answer', async () => {
    const { id } = await bench.frozenStart()
    await expectCancelled(id, 'frozen while starting')
    bench.release()
    expect(await bench.next(1)).toEqual([FIRST])
  })

  it('while it runs', async () => {
    const { id, box } = await bench.running()
    await expectCancelled(id, 'running')
    // Its encoder ends, though its source still holds back what comes next.
    await until('the transcoder to be idle or gone', async () => (await box.health())?.state !== 'busy')
    bench.release()
    expect(await bench.next(1)).toEqual([FIRST])
  })

  it('while its container is frozen', async () => {
    const { id, box } = await bench.running()
    await box.pause()
    await expectCancelled(id, 'frozen')
    bench.release()
    expect(await bench.next(1)).toEqual([FIRST])
    expect(await box.state()).toBeNull()
  })

  it('while it waits for a slot', async () => {
    const { id: first } = await bench.running()
    const id = await bench.create()
    await expectCancelled(id, 'waiting')
    bench.release()
    await bench.whole(first)
    expect(await bench.attempts(first)).toEqual(FIRST)
  })
})
