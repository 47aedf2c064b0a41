// `npm start` with transcoders that run elsewhere: in containers, on other machines.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { expect, test } from 'vitest'
import { readSettings } from '../../../../scripts/local/localSettings.ts'
import { decodeFrames, makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, ROOT, Service, waitFor } from '../../../support/service.ts'

const SECRET = 'a-secret-for-tests-of-32-letters'

/** Finds the listening address in its output, and reads all lines. */
function addressIn(lines: Interface): Promise<string> {
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      const { url } = JSON.parse(line) as { url?: string }
      if (url !== undefined) resolve(url)
    })
  })
}

/** A transcoder as the image starts it. */
async function startTranscoder(workDir: string): Promise<{ url: string } & AsyncDisposable> {
  const child = spawn(process.execPath, [join(ROOT, 'transcoder/main.ts')], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', WORK_DIR: workDir, TRANSCODER_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await addressIn(createInterface({ input: child.stdout }))
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      await closed
    },
  }
}

test('starts no transcoder of its own, and dispatches jobs to the configured ones', async () => {
  await using tempDir = await tempDirectory()
  await using transcoder = await startTranscoder(tempDir.file('work'))
  await using service = await Service.start({ TRANSCODER_URLS: transcoder.url, TRANSCODER_SECRET: SECRET })
  expect(service.ready).toMatchObject({ transcoder_urls: [transcoder.url], pids: { transcoders: [] } })
  expect(service.transcoder()).toBeNull()
  const input = await service.upload(await makeClip(tempDir.file('clip.mp4'), { seconds: 2 }))
  const status = await service.run(jobRequest(input, 'file-upload'))
  expect(status).toMatchObject({ state: 'ready', error: null })
  const path = tempDir.file('out.mp4')
  await writeFile(path, Buffer.from(await (await fetch(status.outputs[0]?.url ?? '')).arrayBuffer()))
  expect(await decodeFrames(path)).toHaveLength(50)
})

test('a transcoder that cannot reach the service says so, and the status of the job tells it', async () => {
  await using tempDir = await tempDirectory()
  await using transcoder = await startTranscoder(tempDir.file('work'))
  await using service = await Service.start({
    TRANSCODER_URLS: transcoder.url,
    TRANSCODER_SECRET: SECRET,
    // Nothing listens there.
    TASK_API_URL: 'http://127.0.0.1:9',
  })
  const input = await service.upload(await makeClip(tempDir.file('clip.mp4'), { seconds: 1 }))
  const id = await service.create(jobRequest(input, 'file-upload'))
  const starts = await waitFor('a second start to fail', async () => (await service.status(id))?.failed_starts)
  expect(starts).toMatchObject({
    code: 'service_unreachable',
    message: expect.stringContaining('TASK_API_URL') as string,
  })
})

test.each([
  [{ TRANSCODER_URLS: 'http://127.0.0.1:8788' }, /TRANSCODER_SECRET must have 32 characters/],
  [{ TRANSCODER_URLS: 'http://127.0.0.1:8788', TRANSCODER_SECRET: 'short' }, /TRANSCODER_SECRET must have 32/],
  [{ TRANSCODER_URLS: '127.0.0.1:8788', TRANSCODER_SECRET: SECRET }, /TRANSCODER_URLS must be http addresses/],
  [{ TRANSCODER_URLS: 'http://127.0.0.1:8788/run', TRANSCODER_SECRET: SECRET }, /TRANSCODER_URLS must be http/],
  [
    { TRANSCODER_URLS: 'http://t:1', TRANSCODER_SECRET: SECRET, TASK_API_URL: 'task-api' },
    /TASK_API_URL must be http addresses/,
  ],
])('refuses %o', (env, message) => {
  expect(() => readSettings(env)).toThrow(message)
})

test('accepts several addresses, without a trailing slash', () => {
  const env = {
    TRANSCODER_URLS: 'http://a:1/, http://b:2',
    TRANSCODER_SECRET: SECRET,
    TASK_API_URL: 'http://task-api:3/',
  }
  expect(readSettings(env).remote).toEqual({
    urls: ['http://a:1', 'http://b:2'],
    secret: SECRET,
    taskApiUrl: 'http://task-api:3',
  })
  expect(readSettings({}).remote).toBeNull()
})
