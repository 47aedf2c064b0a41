// Stills, previews and waveforms beside other outputs, and the ends of attempts that make them: what is read, what is
// listed, and what stays behind.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import { decodeFrames, ffmpeg, lavfi } from '../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import {
  findFfmpegProcesses,
  openAttemptFixture,
  runRequest,
  type AttemptFixture,
} from '../../../support/transcoder/attemptFixture.ts'
import { extractTask } from '../../../support/transcoder/extractTasks.ts'
import { FakeTaskApi, sendJson } from '../../../support/transcoder/fakeTaskApi.ts'

let fixture: AttemptFixture
const path = (name: string): string => join(fixture.directory, name)
beforeAll(async () => {
  fixture = await openAttemptFixture()
  await Promise.all([
    makeNumberedClip(path('a.mp4'), { seconds: 12 }),
    makeNumberedClip(path('b.mp4'), { seconds: 12 }),
    // 25 MB of noise: many reads, and slow to encode.
    ffmpeg([
      ...['-y', ...lavfi('testsrc2=s=1280x720:r=25:d=12,noise=alls=40:allf=t', 'sine=d=12')],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-b:v', '16M', '-maxrate', '16M', '-bufsize', '16M', '-g', '25'],
      ...['-c:a', 'aac', path('detailed.mp4')],
    ]),
  ])
})
afterAll(() => fixture.remove())
const started: FakeTaskApi[] = []
afterEach(() => Promise.all(started.splice(0).map((each) => each.stop())))

async function open(source: string, members: object, video = false): Promise<FakeTaskApi> {
  const taskApi = await new FakeTaskApi({ bytes: await readFile(path(source)) }).start()
  started.push(taskApi)
  taskApi.task = extractTask(members, { video })
  return taskApi
}

async function run(source: string, members: object, video = false): Promise<FakeTaskApi> {
  const taskApi = await open(source, members, video)
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  expect(await fixture.workDirEntries()).toEqual([])
  return taskApi
}

async function framesIn(taskApi: FakeTaskApi): Promise<Record<string, number[]>> {
  const found: Record<string, number[]> = {}
  for (const [name, bytes] of taskApi.objects()) {
    if (!/\.(jpg|webp|gif)$/.test(name)) continue
    const file = path(name.replaceAll('/', '_'))
    await writeFile(file, bytes)
    found[name] = await frameNumbers(file)
  }
  return found
}

test.each(['mp4', 'ts'])('beside a %s file, from one decode', async (container) => {
  const members = {
    output_container: container,
    stills: [{ at_seconds: [1, 11.96] }, { at_seconds: 5, format: 'webp', output: 'x.webp' }],
    animated_preview: { format: 'gif', seconds: 1, parts: 1, start_seconds: 2, frames_per_second: 5, width: 192 },
    waveform: { format: 'dat' },
  }
  const taskApi = await run('a.mp4', members, true)
  expect(await framesIn(taskApi)).toEqual({
    'clip_still_0_0001.jpg': [25],
    'clip_still_0_0002.jpg': [299],
    'x.webp': [125],
    'clip_preview.gif': [50, 55, 60, 65, 70],
  })
  await writeFile(path(`v.${container}`), taskApi.objects().get('v0.mp4')!)
  expect(await decodeFrames(path(`v.${container}`))).toHaveLength(300)
  expect(taskApi.objects().get('clip_waveform.dat')?.readInt32LE(0)).toBe(2)
})

test('beside segmented output they are listed in job.json', async () => {
  const members = {
    output_container: 'hls',
    segmented_output_dash: true,
    thumbnails: true,
    bucket_output_path: 'show',
    videoProfiles: [{ output: '', width: 192, height: 48, video_bitrate: 400 }],
    stills: [{ at_seconds: [3, 7.4] }],
    waveform: {},
  }
  const taskApi = await run('a.mp4', members, true)
  expect(await framesIn(taskApi)).toMatchObject({
    'show/clip_still_0_0001.jpg': [75],
    'show/clip_still_0_0002.jpg': [185],
  })
  const report = taskApi.finished!.written.find(({ path: name }) => name === 'show/job.json')!.body
  const listed = (JSON.parse(report) as { objects: { path: string; role: string }[] }).objects
  expect(listed.filter(({ role }) => role === 'still' || role === 'waveform').map(({ path: name }) => name)).toEqual([
    'show/clip_still_0_0001.jpg',
    'show/clip_still_0_0002.jpg',
    'show/clip_waveform.json',
  ])
})

test('of joined inputs, times count through all pieces', async () => {
  const taskApi = await open('a.mp4', { stills: [{ at_seconds: [1, 3] }], waveform: { bits: 16 } }, true)
  taskApi.furtherSources = [{ bytes: await readFile(path('b.mp4')) }]
  const { input: _input, ...config } = taskApi.task!.config
  const inputs = [
    { input: 'https://example.com/a.mp4', start_seconds: 4, end_seconds: 6 },
    { input: 'https://example.com/b.mp4', start_seconds: 8, end_seconds: 10 },
  ]
  taskApi.task = { ...taskApi.task!, config: { ...config, inputs } }
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails).toEqual([])
  expect(await framesIn(taskApi)).toEqual({ 'clip_still_0_0001.jpg': [125], 'clip_still_0_0002.jpg': [225] })
  const waveform = JSON.parse(taskApi.objects().get('clip_waveform.json')!.toString()) as { length: number }
  expect(waveform.length).toBe(Math.ceil((4 * 48_000) / 256))
})

test('a still that cannot be stored fails the attempt and leaves nothing behind', async () => {
  const taskApi = await open('a.mp4', { stills: [{ every_seconds: 0.2 }], animated_preview: {}, waveform: {} })
  taskApi.faults.uploads = ({ response, n }) => {
    if (n < 5) return false
    sendJson(response, 403, { error: { code: 'output_forbidden', message: 'no' } })
    return true
  }
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails[0]?.error?.code).toBe('output_forbidden')
  expect(taskApi.finished).toBeNull()
  expect(await fixture.workDirEntries()).toEqual([])
})

test('more than a hundred frames at irregular distances', async () => {
  // Every 2.5 frames: no two distances in a row are equal.
  const taskApi = await run('a.mp4', { stills: [{ every_seconds: 0.1 }] })
  const images = [...taskApi.objects()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, bytes]) => bytes)
  await writeFile(path('all.mjpeg'), Buffer.concat(images))
  expect(await frameNumbers(path('all.mjpeg'))).toEqual(
    Array.from({ length: 120 }, (_, index) => Math.floor(index * 2.5)),
  )
})

async function cancelAt(taskApi: FakeTaskApi, isUnderWay: () => boolean): Promise<void> {
  const ended = runTask(runRequest(taskApi), fixture.context())
  // An attempt that failed makes no further requests.
  await Promise.race([ended, taskApi.waitFor(isUnderWay)])
  taskApi.instruction = 'cancel'
  await ended
  expect(taskApi.fails).toMatchObject([{ reason: 'cancelled' }])
  expect(taskApi.finished).toBeNull()
  expect(await findFfmpegProcesses(fixture.workDir)).toEqual([])
  expect(await fixture.workDirEntries()).toEqual([])
}

test('cancelled while AVIF is encoded, a job ends its runs and leaves nothing behind', async () => {
  // 120 large images: it cannot end before the next heartbeat.
  const taskApi = await open('detailed.mp4', { stills: [{ every_seconds: 0.1, format: 'avif', width: 1280 }] })
  await cancelAt(taskApi, () => taskApi.uploads.size > 0)
  expect(taskApi.uploads.size).toBeLessThan(100)
})

test.each<[name: string, members: object, uploads: number]>([
  // As many as may be in upload at once: the pipe waits.
  ['jpeg stills', { stills: [{ every_seconds: 0.1 }] }, 6],
  ['webp stills', { stills: [{ every_seconds: 0.1, format: 'webp' }] }, 6],
  ['avif stills', { stills: [{ every_seconds: 0.1, format: 'avif' }] }, 6],
  ['an mp4 preview', { animated_preview: { format: 'mp4' } }, 1],
  ['a gif preview', { animated_preview: { format: 'gif', seconds: 1 } }, 1],
  ['a waveform', { waveform: {} }, 1],
])('cancelled while the store does not answer for %s, a job leaves nothing behind', async (_name, members, uploads) => {
  const taskApi = await open('a.mp4', members)
  // Never answered.
  taskApi.faults.uploads = () => true
  await cancelAt(taskApi, () => (taskApi.counts.get('uploads') ?? 0) >= uploads)
  expect(taskApi.counts.get('uploads')).toBe(uploads)
})

test.each<[name: string, members: object]>([
  ['stills', { stills: [{ every_seconds: 0.1 }] }],
  ['a preview', { animated_preview: {} }],
  ['a waveform', { waveform: {} }],
])('cancelled while the source is read for %s, a job leaves nothing behind', async (_name, members) => {
  const taskApi = await open('detailed.mp4', members)
  let isPlanned = false
  taskApi.faults.plan = () => {
    isPlanned = true
    return false
  }
  // From the plan on, reads of the source are never answered.
  let held = 0
  taskApi.faults.input = () => {
    if (!isPlanned) return false
    held += 1
    return true
  }
  await cancelAt(taskApi, () => held > 0)
  expect(held).toBeGreaterThan(0)
})

test('an interval that makes too many images of this source fails before anything is made', async () => {
  const taskApi = await open('a.mp4', { stills: [{ every_seconds: 0.1 }, { count: 900, output: 'c.jpg' }] })
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails[0]?.error).toMatchObject({
    code: 'unsupported_combination',
    field: 'stills[0].every_seconds',
    details: { images: 1020, maximum: 1000 },
  })
  expect(taskApi.uploads.size).toBe(0)
})
