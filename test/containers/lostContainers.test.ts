// What can happen to a working container: it is killed, frozen, runs out of memory, or is stopped. The job succeeds in
// every case.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { docker } from '../../scripts/image/docker.ts'
import { makeClip } from '../support/media/media.ts'
import { jobRequest, waitFor } from '../support/testClient.ts'
import { ContainerFixture, FIRST_ATTEMPT, MINUTE_MS, type AttemptSummary } from './containerFixture.ts'
import { CONTAINERS_ENABLED, type Container } from './dockerEngine.ts'
import { recordTiming } from './timings.ts'

const SECOND: AttemptSummary = { made: 2, lost: [1] }

// Skipped if CONTAINERS names no engine.
describe.skipIf(!CONTAINERS_ENABLED)('a container', () => {
  let fixture: ContainerFixture
  beforeAll(async () => {
    fixture = await ContainerFixture.open(2)
  }, 25 * MINUTE_MS)
  afterAll(() => fixture?.[Symbol.asyncDispose]())
  // Cleans up after a failed test.
  afterEach(() => fixture?.resumeSource())

  /**
   * Waits until another container starts, as Docker reports it: the service is not asked, so only its own alarm can
   * have detected the loss. Then the job continues, and its end is checked.
   */
  const noticed = async (id: number, what: string, harm: () => Promise<unknown>): Promise<AttemptSummary> => {
    const before = await fixture.service.containers()
    const since = Date.now()
    await harm()
    await fixture.waitForOtherContainer(before)
    fixture.resumeSource()
    await fixture.expectComplete(id)
    await recordTiming(`loss told: ${what}`, (await fixture.eventTime(id, 'attempt.lost', 1)) - since)
    await recordTiming(
      `next attempt after a loss: ${what}`,
      (await fixture.eventTime(id, 'attempt.started', 2)) - since,
    )
    return fixture.attemptSummary(id)
  }
  it('that is killed is detected without any client request', async () => {
    const { id, container: runningContainer } = await fixture.startJob()
    expect(await noticed(id, 'docker kill', () => runningContainer.signal('SIGKILL'))).toEqual(SECOND)
    expect(await fixture.expectNextJobs(2)).toEqual([FIRST_ATTEMPT, FIRST_ATTEMPT])
  })

  it('that is frozen is detected without any client request, and its slot gets a new container', async () => {
    const { id, container } = await fixture.startJob()
    expect(await noticed(id, 'docker pause', () => container.freeze())).toEqual(SECOND)
    expect(await fixture.expectNextJobs(2)).toEqual([FIRST_ATTEMPT, FIRST_ATTEMPT])
    // No frozen container remains: it would block a slot and cost money.
    await waitFor('the frozen container to be gone', async () => (await container.state()) === null, 3 * MINUTE_MS)
  })

  it('that is frozen before it answers is given back, and the start does not count as a lost attempt', async () => {
    const { id } = await fixture.startAndFreeze()
    const since = Date.now()
    fixture.resumeSource()
    await fixture.expectComplete(id)
    await recordTiming('a start that hangs is given back', (await fixture.eventTime(id, 'attempt.started')) - since)
    expect((await fixture.attemptSummary(id)).lost, await fixture.timelineText(id)).toEqual([])
  })

  it('that loses its connection to the Worker is detected without any client request', async () => {
    const { id, container } = await fixture.startJob()
    const before = await fixture.service.containers()
    const since = Date.now()
    await container.disconnect()
    await fixture.waitForOtherContainer(before)
    // The next attempt may use the same slot, and so the same network.
    await container.reconnect()
    fixture.resumeSource()
    await fixture.expectComplete(id)
    expect((await fixture.attemptSummary(id)).lost, await fixture.timelineText(id)).toEqual([1])
    await recordTiming('loss told: cut off', (await fixture.eventTime(id, 'attempt.lost', 1)) - since)
    expect(await fixture.expectNextJobs(2)).toEqual([FIRST_ATTEMPT, FIRST_ATTEMPT])
  })

  it('that runs out of memory loses its attempt and no other', async () => {
    const { id, container } = await fixture.startJob()
    expect(await noticed(id, 'out of memory', () => runOut(container))).toEqual(SECOND)
    expect(await fixture.expectNextJobs(2)).toEqual([FIRST_ATTEMPT, FIRST_ATTEMPT])
  })

  it('that gets SIGTERM finishes a nearly complete attempt and accepts no further task', async () => {
    const { id, container } = await fixture.startJob()
    await container.signal('SIGTERM')
    await waitFor('it to say so', async () => (await container.health())?.state === 'draining')
    fixture.resumeSource()
    await fixture.expectComplete(id)
    expect(await fixture.attemptSummary(id), await fixture.timelineText(id)).toEqual(FIRST_ATTEMPT)
    await waitFor('it to end', async () => (await container.state())?.Status !== 'running')
    expect(await fixture.expectNextJobs(2)).toEqual([FIRST_ATTEMPT, FIRST_ATTEMPT])
  })

  it('that gets SIGTERM returns an attempt it cannot finish, and this does not count as a lost attempt', async () => {
    const { id, container } = await fixture.startJob()
    const before = await fixture.service.containers()
    const since = Date.now()
    await container.signal('SIGTERM')
    await fixture.waitForOtherContainer(before)
    fixture.resumeSource()
    await fixture.expectComplete(id)
    expect(await fixture.attemptSummary(id), await fixture.timelineText(id)).toEqual({ made: 2, lost: [] })
    await recordTiming('given back after SIGTERM', (await fixture.eventTime(id, 'attempt.evicted', 1)) - since)
    expect(await fixture.expectNextJobs(2)).toEqual([FIRST_ATTEMPT, FIRST_ATTEMPT])
  })

  it('that makes a chunk of a divided job is killed: the job is completed from the chunks of several containers', async () => {
    const source = fixture.tempDir.file('long.mp4')
    await makeClip(source, { seconds: 41, flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'] })
    const input = await fixture.service.upload(source)
    const id = await fixture.service.create(
      jobRequest(input, 'file-upload', {
        bucket_output_path: 'long',
        segment_length: 2,
        segmented_output_hls: true,
        segmented_output_dash: true,
        max_chunk_seconds: 10,
        // Its rate needs no samples: they would be encoded before the job is divided.
        videoProfiles: [{ output: '', width: 1280, height: 720, video_bitrate: 3000, video_bitrate_mode: 'qvbr' }],
      }),
    )
    const begun = await waitFor(
      'a chunk to be at work',
      async () => {
        const { chunks } = (await fixture.service.status(id)) ?? {}
        return chunks != null && chunks.running > 0 ? chunks : null
      },
      4 * MINUTE_MS,
    )
    expect(begun.total).toBe(6)
    const [busy] = await waitFor('its container', async () => {
      const found = await fixture.service.busyContainers()
      return found.length > 0 ? found : null
    })
    await busy!.signal('SIGKILL')
    const { chunks } = await fixture.expectComplete(id)
    expect(chunks).toEqual({ total: 6, completed: 6, running: 0, map: 'cccccc' })
    // The main task divides in its first attempt and publishes in its second one; the container that was lost made a part.
    expect(await fixture.attemptSummary(id), await fixture.timelineText(id)).toEqual({ made: 2, lost: [] })
    const ofParts = (await fixture.service.events(id)).filter(({ part }) => part !== null)
    expect(ofParts).toMatchObject([{ type: 'attempt.lost' }])
    expect(await fixture.expectNextJobs(2)).toEqual([FIRST_ATTEMPT, FIRST_ATTEMPT])
  })
})

/**
 * The kernel kills the transcoder itself, not the first process of the container and not the process that uses up the
 * memory.
 */
async function runOut(container: Container): Promise<void> {
  const worst =
    'for p in /proc/[0-9]*; do case $(tr "\\0" " " < $p/cmdline) in *node*transcoder/main.ts*) echo 1000 > $p/oom_score_adj;; esac; done'
  await docker('exec', '--user', 'root', container.id, '/bin/sh', '-c', worst)
  await docker('update', '--memory', '300m', '--memory-swap', '300m', container.id)
  await container.node('const all = []; for (;;) all.push(Buffer.alloc(2 ** 24, 1))').catch(() => undefined)
}
