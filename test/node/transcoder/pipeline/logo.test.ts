// A logo in a whole run: fetched through the task API, drawn, and the job's error if it is unavailable.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import { sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import { describeTask, makeSourceClip, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const run = promisify(execFile)
const fixtures = await useAttemptFixture()
let clip: Buffer
let blue: Buffer
const taskApi = useTaskApi(() => clip)

beforeAll(async () => {
  clip = await makeSourceClip(fixtures, 1)
  const file = join(fixtures.directory, 'blue.png')
  const flags = '-nostdin -v error -y -f lavfi -i color=blue:s=64x64 -frames:v 1'
  await run(fixtures.engine.ffmpeg, [...flags.split(' '), file])
  blue = await readFile(file)
})
beforeEach(() => {
  const task = describeTask({ container: 'mp4' })
  taskApi.task = { ...task, config: { ...task.config, logo_url: 'https://example.com/logo.png' } }
})

/** The colour in the middle of the logo, which is inside 48 × 48 at 262, 6, at a time in seconds. */
async function logoColour(second: string): Promise<Buffer> {
  const file = join(fixtures.directory, 'out.mp4')
  await writeFile(file, taskApi.objects().get('out/v0.mp4')!)
  const flags = ['-vf', 'crop=32:32:270:14', '-frames:v', '1', '-pix_fmt', 'rgb24', '-f', 'rawvideo', '-']
  const { stdout } = await run(
    fixtures.engine.ffmpeg,
    ['-nostdin', '-v', 'error', '-ss', second, '-i', file, ...flags],
    { encoding: 'buffer' },
  )
  return stdout.subarray(3 * (16 * 32 + 16))
}

function expectBlue([red = 255, green = 255, blueness = 0]: Buffer): void {
  expect([red < 30, green < 30, blueness > 220]).toEqual([true, true, true])
}

test('it is fetched once and drawn over the video', async () => {
  taskApi.logo = blue
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.counts.get('logo')).toBe(1)
  expectBlue(await logoColour('0'))
  expect(await fixtures.workDirEntries()).toEqual([])
  expect(taskApi.breaches).toEqual([])
})

test('it is drawn over joined inputs', async () => {
  taskApi.logo = blue
  taskApi.furtherSources = [{ bytes: clip }]
  const { input, ...config } = taskApi.task!.config
  taskApi.task = { ...taskApi.task!, config: { ...config, inputs: [{ input: input! }, { input: input! }] } }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  for (const second of ['0.1', '1.5']) expectBlue(await logoColour(second))
})

test('an image that cannot be decoded is the job’s error, not the encoder’s', async () => {
  taskApi.logo = blue.subarray(0, 60)
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'logo_unavailable', field: 'logo_url' } }])
  expect(taskApi.plans).toEqual([])
})

test('the error of the task API is passed on without a retry', async () => {
  taskApi.faults.logo = ({ response }) => {
    sendJson(response, 422, { error: { code: 'logo_unavailable', message: 'The logo cannot be used. It is a page.' } })
    return true
  }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toMatchObject([
    { error: { code: 'logo_unavailable', message: 'The logo cannot be used. It is a page.' } },
  ])
  expect(taskApi.counts.get('logo')).toBe(1)
})

test('a failure that may pass is tried again', async () => {
  taskApi.logo = blue
  taskApi.faults.logo = ({ response, n }) => {
    if (n > 1) return false
    sendJson(response, 502, { error: { code: 'unavailable', message: 'later' } })
    return true
  }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.counts.get('logo')).toBe(2)
})
