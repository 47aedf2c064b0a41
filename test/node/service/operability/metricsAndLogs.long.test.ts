// In charge of: /metrics and the logs of a real service with a real transcoder: what an operator sees of one job, and
// what is still there after a restart.
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service } from '../../../support/service.ts'
import { missingPrograms } from '../../validators/installedPrograms.ts'

const resources = fileResources()
let service: Service
let clip: string
beforeAll(async () => {
  const tempDir = resources.use(await tempDirectory())
  clip = await makeClip(tempDir.file('clip.mp4'), { seconds: 2 })
  service = resources.use(await Service.start({ LOG_LEVEL: 'debug' }))
})

async function scrape(): Promise<string> {
  const authorization = `Basic ${btoa(`${service.ready.admin_key}:`)}`
  return (await fetch(`${service.base}/metrics`, { headers: { authorization } })).text()
}

function valueOf(metrics: string, series: string): number {
  const line = metrics.split('\n').find((each) => each.startsWith(`splicepoint_${series} `))
  return Number(line?.split(' ').at(-1) ?? NaN)
}

/** grep in the directory of logs: lines by file. */
async function grep(what: string): Promise<Record<string, Record<string, unknown>[]>> {
  const directory = join(service.stateDir, 'logs')
  const names = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isFile())
  const found: Record<string, Record<string, unknown>[]> = {}
  for (const { name } of names) {
    const lines = (await readFile(join(directory, name), 'utf8')).split('\n').filter((line) => line.includes(what))
    found[name] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  return found
}

test('one job: its figures in /metrics, and its lines in both logs by its id', async () => {
  const request = jobRequest(await service.upload(clip), 'file-upload', {
    videoProfiles: [{ output: 'a.mp4', width: 320, height: 180, video_bitrate: 400 }],
  })
  const created = await service.call('/api/v0/job', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'from-the-client' },
    body: JSON.stringify(request),
  })
  expect(created.headers.get('x-request-id')).toBe('from-the-client')
  const { _auto_generated_id_: id, job_id: jobId } = (await created.json()) as {
    _auto_generated_id_: number
    job_id: string
  }
  expect(await service.waitForEnd(id)).toMatchObject({ state: 'ready', error: null })

  const metrics = await scrape()
  expect(valueOf(metrics, 'jobs_ended_total{kind="transcode",state="completed",code=""}')).toBe(1)
  expect(valueOf(metrics, 'source_seconds_total')).toBeCloseTo(2, 1)
  expect(valueOf(metrics, 'output_seconds_total{resolution="sd"}')).toBeCloseTo(2, 1)
  expect(valueOf(metrics, 'transcoder_cpu_seconds_total{outcome="finished"}')).toBeGreaterThan(0.1)
  expect(valueOf(metrics, 'stored_bytes_total{store="vendor-store"}')).toBeGreaterThan(10_000)
  expect(valueOf(metrics, 'source_read_bytes_total')).toBeGreaterThan(10_000)
  expect(valueOf(metrics, 'uploaded_bytes_total')).toBeGreaterThan(10_000)
  expect(valueOf(metrics, 'http_requests_total{method="POST",route="/api/v0/job",status="2xx"}')).toBe(1)
  for (const phase of ['start', 'analysis', 'encoding', 'upload', 'commit'])
    expect(valueOf(metrics, `job_phase_seconds_count{phase="${phase}"}`), phase).toBe(1)
  expect(metrics).toMatch(/^splicepoint_build_info\{version="\d[^"]*",commit="([0-9a-f]{12})?"\} 1$/m)

  const found = await grep(jobId)
  const worker = found['worker.log']!
  const said = worker.map(({ msg, route, to }) => `${String(msg)} ${String(route ?? to)}`)
  for (const line of ['request /api/v0/job', 'started running', 'finish committing', 'committed completed'])
    expect(said).toContain(line)
  expect(worker.find(({ route }) => route === '/api/v0/job')).toMatchObject({
    level: 'info',
    request_id: 'from-the-client',
    account: 'default',
    status: 200,
  })
  expect(said).toContain('request /task/:id/progress')
  for (const { time, level } of worker)
    expect([time, level]).toEqual([expect.stringMatching(/^\d{4}-.+Z$/), expect.any(String)])
  const transcoder = found['transcoder-0.log']!.map(({ msg }) => msg)
  expect(transcoder).toEqual(expect.arrayContaining(['task accepted', 'finished']))

  // Prometheus's own tool agrees with what this service says.
  if (missingPrograms('promtool') === null) {
    const child = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin.end(metrics)
    expect((await Promise.all([text(child.stdout), text(child.stderr)])).join('')).toBe('')
  }
})

test('after a restart of the Worker the counters go on from where they were', async () => {
  const before = await scrape()
  const restarted = service.runtime()!.pid
  process.kill(service.worker()!.pid, 'SIGKILL')
  await expect.poll(() => service.runtime()?.pid ?? restarted).not.toBe(restarted)
  await expect.poll(async () => (await fetch(`${service.base}/health`)).status).toBe(200)
  const after = await scrape()
  for (const series of [
    'jobs_ended_total{kind="transcode",state="completed",code=""}',
    'http_requests_total{method="POST",route="/api/v0/job",status="2xx"}',
    'transcoder_cpu_seconds_total{outcome="finished"}',
    'uploaded_bytes_total',
  ])
    expect(valueOf(after, series), series).toBe(valueOf(before, series))
})
