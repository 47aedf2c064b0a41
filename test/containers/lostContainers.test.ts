// What can happen to a container that works: it is killed, frozen, runs out of memory, or is told to stop. The job is made in any case.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { docker } from '../../scripts/image/docker.ts'
import { until } from '../support/testClient.ts'
import { Bench, FIRST, MINUTE_MS, type Attempts } from './containerFixture.ts'
import { isWanted, type Box } from './dockerEngine.ts'
import { took } from './timings.ts'

const SECOND: Attempts = { made: 2, lost: [1] }

// CONTAINERS names no engine: skipped.
describe.skipIf(!isWanted)('a container', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await Bench.open(2)
  }, 25 * MINUTE_MS)
  afterAll(() => bench?.[Symbol.asyncDispose]())
  // Whatever a test that failed has left behind.
  afterEach(() => bench?.release())

  /**
   * Until another container starts, of which the engine tells: the service is not asked, so that nothing but its own alarm can
   * have noticed. Then the job is let go on, and looked at once it is over.
   */
  const noticed = async (id: number, what: string, harm: () => Promise<unknown>): Promise<Attempts> => {
    const before = await bench.lab.boxes()
    const since = Date.now()
    await harm()
    await bench.another(before)
    bench.release()
    await bench.whole(id)
    await took(`loss told: ${what}`, (await bench.at(id, 'attempt.lost', 1)) - since)
    await took(`next attempt after a loss: ${what}`, (await bench.at(id, 'attempt.started', 2)) - since)
    return bench.attempts(id)
  }
  it('that is killed is noticed while nobody asks', async () => {
    const { id, box } = await bench.running()
    expect(await noticed(id, 'docker kill', () => box.signal('SIGKILL'))).toEqual(SECOND)
    expect(await bench.next(2)).toEqual([FIRST, FIRST])
  })

  it('that is frozen is noticed while nobody asks, and its slot gets a fresh one', async () => {
    const { id, box } = await bench.running()
    expect(await noticed(id, 'docker pause', () => box.pause())).toEqual(SECOND)
    expect(await bench.next(2)).toEqual([FIRST, FIRST])
    // Nothing frozen stays behind: neither in the way of a job nor of those who pay for it.
    await until('the frozen container to be gone', async () => (await box.state()) === null, 3 * MINUTE_MS)
  })

  it('that is frozen before it answers is given back, and the start does not count as a lost attempt', async () => {
    const { id } = await bench.frozenStart()
    const since = Date.now()
    bench.release()
    await bench.whole(id)
    await took('a start that hangs is given back', (await bench.at(id, 'attempt.started')) - since)
    expect((await bench.attempts(id)).lost, await bench.story(id)).toEqual([])
  })

  it('that is cut off from the Worker is noticed while nobody asks', async () => {
    const { id, box } = await bench.running()
    const before = await bench.lab.boxes()
    const since = Date.now()
    await box.cutOff()
    await bench.another(before)
    // The next attempt may be on the same slot, and with that on the same network.
    await box.letThrough()
    bench.release()
    await bench.whole(id)
    expect((await bench.attempts(id)).lost, await bench.story(id)).toEqual([1])
    await took('loss told: cut off', (await bench.at(id, 'attempt.lost', 1)) - since)
    expect(await bench.next(2)).toEqual([FIRST, FIRST])
  })

  it('that runs out of memory loses its attempt and no other', async () => {
    const { id, box } = await bench.running()
    expect(await noticed(id, 'out of memory', () => runOut(box))).toEqual(SECOND)
    expect(await bench.next(2)).toEqual([FIRST, FIRST])
  })

  it('that is told to stop finishes what is nearly done, and takes nothing more', async () => {
    const { id, box } = await bench.running()
    await box.signal('SIGTERM')
    await until('it to say so', async () => (await box.health())?.state === 'draining')
    bench.release()
    await bench.whole(id)
    expect(await bench.attempts(id), await bench.story(id)).toEqual(FIRST)
    await until('it to end', async () => (await box.state())?.Status !== 'running')
    expect(await bench.next(2)).toEqual([FIRST, FIRST])
  })

  it('that is told to stop gives back what does not end, and that does not count as a lost attempt', async () => {
    const { id, box } = await bench.running()
    const before = await bench.lab.boxes()
    const since = Date.now()
    await box.signal('SIGTERM')
    await bench.another(before)
    bench.release()
    await bench.whole(id)
    expect(await bench.attempts(id), await bench.story(id)).toEqual({ made: 2, lost: [] })
    await took('given back after SIGTERM', (await bench.at(id, 'attempt.evicted', 1)) - since)
    expect(await bench.next(2)).toEqual([FIRST, FIRST])
  })
})

/** The kernel ends the transcoder itself, not its first process and not whoever eats the memory up. */
async function runOut(box: Box): Promise<void> {
  const worst =
    'for p in /proc/[0-9]*; do case $(tr "\\0" " " < $p/cmdline) in *node*transcoder/main.ts*) echo 1000 > $p/oom_score_adj;; esac; done'
  await docker('exec', '--user', 'root', box.id, '/bin/sh', '-c', worst)
  await docker('update', '--memory', '300m', '--memory-swap', '300m', box.id)
  await box.node('const all = []; for (;;) all.push(Buffer.alloc(2 ** 24, 1))').catch(() => undefined)
}
