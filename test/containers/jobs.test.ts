// Whole jobs on the path of a deployed service: Worker, Durable Object, container without internet, outbound handler,
// task API; and the report of `splicepoint doctor` for a healthy one.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Estimate } from '#contract/task/dryRunEstimate.ts'
import { MAX_TASK_BODY_BYTES } from '#contract/task/protocol.ts'
import { docker } from '../../scripts/image/docker.ts'
import { ffmpeg } from '../support/media/media.ts'
import { runProgram, SPLICEPOINT } from '../support/runProgram.ts'
import { jobRequest, waitFor } from '../support/testClient.ts'
import { ContainerFixture, FIRST_ATTEMPT, MINUTE_MS } from './containerFixture.ts'
import { CONTAINERS_ENABLED } from './dockerEngine.ts'
import { recordTiming } from './timings.ts'

// Skipped if CONTAINERS names no engine.
describe.skipIf(!CONTAINERS_ENABLED)('a job in a container', () => {
  let fixture: ContainerFixture
  beforeAll(async () => {
    fixture = await ContainerFixture.open(2)
  }, 25 * MINUTE_MS)
  afterAll(() => fixture?.[Symbol.asyncDispose]())
  // Cleans up after a failed test.
  afterEach(() => fixture?.resumeSource())

  it('of doctor finds the service whole, and nothing is left of it', async () => {
    // `wrangler dev` does not trigger cron handlers by itself.
    await fetch(`${fixture.service.base}/cdn-cgi/handler/scheduled`)
    const { base, apiKey, adminKey } = fixture.service
    const env = { SPLICEPOINT_KEY: apiKey, SPLICEPOINT_ADMIN_KEY: adminKey }
    const command = [SPLICEPOINT, 'doctor', base, '--json']
    const { code, stdout, stderr } = await runProgram(process.execPath, command, { env })
    expect(stderr).toBe('')
    const { sections } = JSON.parse(stdout) as { sections: Record<string, { verdict: string }[]> }
    const found = Object.values(sections).flat()
    expect(found.length).toBeGreaterThan(0)
    expect(found.filter(({ verdict }) => verdict === 'fault')).toEqual([])
    expect(code).toBe(0)
    expect(await (await fixture.service.call('/api/v0/job')).json()).toMatchObject({ jobs: [] })
  })

  it('is made by its first attempt', async () => {
    const id = await fixture.create()
    await fixture.expectComplete(id)
    expect(await fixture.attemptSummary(id), await fixture.timelineText(id)).toEqual(FIRST_ATTEMPT)
    await fixture.recordStartTime('start of a job, first of its slot', id)
  })

  it('runs in a new container and does not count a lost attempt for the previous job on its slot', async () => {
    const { id: other, container: occupied } = await fixture.startJob()
    const containers = new Set([occupied.id])
    // The other slot is the only free one.
    for (let k = 1; k <= 3; k++) {
      const id = await fixture.create()
      await fixture.expectComplete(id)
      expect(await fixture.attemptSummary(id), await fixture.timelineText(id)).toEqual(FIRST_ATTEMPT)
      if (k > 1) await fixture.recordStartTime('start of a job behind another on its slot', id)
      const [container] = (await fixture.service.containers()).filter((each) => each.id !== occupied.id)
      containers.add(container!.id)
    }
    expect(containers.size).toBe(4)
    fixture.resumeSource()
    await fixture.expectComplete(other)
    expect(await fixture.attemptSummary(other)).toEqual(FIRST_ATTEMPT)
  })

  it('runs in parallel with another job, and a third job waits in the queue', async () => {
    const { id: first, container } = await fixture.startJob()
    const { id: second, container: beside } = await fixture.startJob()
    expect(beside.id).not.toBe(container.id)
    const third = await fixture.create()
    expect(await fixture.service.status(third)).toMatchObject({ phase: 'queued', queue_position: 0 })
    expect(await fixture.service.containers()).toHaveLength(2)
    fixture.resumeSource()
    for (const id of [first, second, third]) {
      await fixture.expectComplete(id)
      expect(await fixture.attemptSummary(id), await fixture.timelineText(id)).toEqual(FIRST_ATTEMPT)
    }
  })

  it('as a dry run returns an estimate and writes no output', async () => {
    const response = await fixture.service.call('/api/v0/job?dry_run=true', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(jobRequest(fixture.freeSource.url, 'http')),
    })
    const { _auto_generated_id_: id } = (await response.json()) as { _auto_generated_id_: number }
    const status = await fixture.service.waitForEnd(id)
    expect(status).toMatchObject({ state: 'ready', error: null, outputs: [], dry_run: true })
    const estimate = status.estimate as Estimate
    expect(estimate.probe.duration_seconds).toBeCloseTo(8, 1)
    expect(estimate.plan.outputs.map(({ path }) => path)).toEqual(['video.mp4'])
    expect(await fixture.attemptSummary(id)).toMatchObject({ lost: [] })
  })

  it('stores HLS and DASH; every object has the reported SHA-256', async () => {
    const id = await fixture.create(fixture.freeSource, {
      bucket_output_path: 'show',
      segment_length: 2,
      gop_length: 1,
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      videoProfiles: [
        { output: '', width: 320, height: 180, video_bitrate: 400 },
        { output: 'low', width: 160, height: 90, video_bitrate: 150 },
      ],
    })
    const { outputs } = await fixture.expectComplete(id)
    const paths = outputs.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['show/master.m3u8', 'show/manifest.mpd', 'show/job.json']))
    expect(await fixture.attemptSummary(id)).toEqual(FIRST_ATTEMPT)
  })

  it('stores a file of several parts', async () => {
    // Noise does not compress, and a copy needs no encoder.
    const source = fixture.tempDir.file('noise.mp4')
    await ffmpeg([
      ...['-f', 'lavfi', '-i', 'color=gray:s=1280x720:r=25:d=1.2,noise=alls=100:allf=t'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-qp', '10', '-pix_fmt', 'yuv420p', source],
    ])
    const input = await fixture.service.upload(source)
    const id = await fixture.service.create(
      jobRequest(input, 'file-upload', {
        video_codec: 'copy',
        videoProfiles: [{ output: 'large.mp4' }],
        audioProfiles: [],
      }),
    )
    const { outputs } = await fixture.expectComplete(id)
    expect(outputs.find(({ path }) => path === 'large.mp4')?.size).toBeGreaterThan(1.2 * MAX_TASK_BODY_BYTES)
    expect(await fixture.attemptSummary(id)).toEqual(FIRST_ATTEMPT)
  })

  it('can reach only the task API from its container', async () => {
    const { id, container } = await fixture.startJob()
    // Listens on every address of this machine, including its bridge to the containers.
    let met = 0
    const listener = createServer((socket) => {
      met += 1
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nin')
    })
    listener.listen(0, '0.0.0.0')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    const bridge = await docker('network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}')
    const own = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
    )
    expect(own).toContain(bridge)
    const ask = (url: string): Promise<string> =>
      container.node(
        `try { const r = await fetch(${JSON.stringify(url)}, { signal: AbortSignal.timeout(20_000) }); console.log(r.status) }
         catch (error) { console.log('nothing', error.cause?.code ?? error.name) }`,
      )
    // Reachable from this machine.
    expect((await fetch(`http://${bridge}:${port}/`)).status).toBe(200)
    met = 0
    for (const address of new Set(own)) expect(await ask(`http://${address}:${port}/`)).toMatch(/^nothing/)
    const others = [
      `http://host.docker.internal:${port}/`,
      'http://outside.example/',
      'https://outside.example/',
      // Addresses reserved for documentation (RFC 5737).
      'http://192.0.2.1/',
      'https://192.0.2.1/',
      'http://169.254.169.254/',
      // Any other host name is unreachable, whatever address it is sent to.
      'http://other.splicepoint.internal/',
      fixture.service.base,
    ]
    for (const url of others) expect(await ask(url), url).toMatch(/^nothing/)
    expect(met).toBe(0)
    listener.close()
    // The task API is reachable, and it is not the public API.
    expect(await ask('http://door.splicepoint.internal/task/1')).toBe('401')
    for (const path of ['/api/v0/job', '/health', '/metrics'])
      expect(await ask(`http://door.splicepoint.internal${path}`), path).toBe('404')
    fixture.resumeSource()
    await fixture.expectComplete(id)
  })

  it('leaves no container behind for long', async () => {
    const id = await fixture.create()
    await fixture.expectComplete(id)
    const since = await fixture.eventTime(id, 'job.completed')
    await waitFor(
      'every container to be gone',
      async () => (await fixture.service.containers()).length === 0,
      4 * MINUTE_MS,
    )
    await recordTiming('idle container gone', Date.now() - since)
    // The next job gets a container too.
    const next = await fixture.create()
    await fixture.expectComplete(next)
    expect(await fixture.attemptSummary(next), await fixture.timelineText(next)).toEqual(FIRST_ATTEMPT)
    await fixture.recordStartTime('start of a job after its slot was idle', next)
  })
})
