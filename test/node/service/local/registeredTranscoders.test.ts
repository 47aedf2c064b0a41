// Transcoders that were started on their own, as on other machines, and register themselves at `npm start`: one service
// and one stranger. More of them: registeredTranscoders.long.test.ts.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSettings as readServiceSettings } from '../../../../scripts/local/localSettings.ts'
import { readSettings } from '../../../../transcoder/settings.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'
import {
  findTranscoder,
  listTranscoders,
  startTranscoder,
  TRANSCODER_SECRET as SECRET,
  type Line,
} from '../../../support/transcoder/registeredTranscoder.ts'

test('a service with a transcoder of its own lists it with the others; a wrong secret opens nothing', async () => {
  await using tempDir = await tempDirectory()
  await using service = await Service.start({ TRANSCODER_SECRET: SECRET })
  await waitFor('its own to register', async () => (await findTranscoder(service, 'local-0'))?.state === 'ready')
  await using stranger = startTranscoder(service.base, {
    TRANSCODER_SECRET: SECRET.replace('secret', 'guess!'),
    WORK_DIR: tempDir.file('work'),
  })
  expect((await stranger.logged('not registered'))['error']).toBe(
    'TRANSCODER_SECRET is missing or is not that of this service.',
  )
  expect(await listTranscoders(service)).toHaveLength(1)
  const input = await service.upload(await makeClip(tempDir.file('clip.mp4'), { width: 320, height: 180, seconds: 1 }))
  expect(await service.run(jobRequest(input, 'file-upload'))).toMatchObject({ state: 'ready', error: null })
  // The address of the client, not what it says of itself.
  const id = 'the-request-of-this-test'
  const headers = { 'x-request-id': id, 'x-forwarded-for': '6.6.6.6', 'cf-connecting-ip': '6.6.6.6' }
  await fetch(`${service.base}/api/v0/limits`, { headers })
  const log = join(service.stateDir, 'logs/worker.log')
  const written = async () => (await readFile(log, 'utf8')).split('\n').find((line) => line.includes(id))
  const line = JSON.parse(await waitFor('the line of the request', written)) as Line
  expect(line['client']).toBe('127.0.0.1')
})

test.each([
  [{ TRANSCODER_SECRET: 'short' }, /TRANSCODER_SECRET must have 32 characters/],
  [{ TRANSCODERS: '0' }, /TRANSCODERS must be a whole number from 1 to 64/],
  [{ HOST: 'example.com' }, /HOST must be an address of this machine/],
  [{ TRUSTED_PROXIES: '10.0.0.0/40' }, /TRUSTED_PROXIES must be addresses and networks/],
  [{ TRUST_PROXY: '1', TRUSTED_PROXIES: '10.0.0.1' }, /not both/],
  [{ TRUST_PROXY: '1', HOST: '0.0.0.0' }, /TRUST_PROXY=1 believes everyone who reaches 0\.0\.0\.0/],
])('the service refuses %o', (env, message) => {
  expect(() => readServiceSettings(env)).toThrow(message)
})

test.each([
  [{ SERVICE_URL: 'http://10.0.0.1:8787' }, /TRANSCODER_SECRET must have 32 characters/],
  [{ SERVICE_URL: 'http://10.0.0.1:8787/path', TRANSCODER_SECRET: SECRET }, /SERVICE_URL must be an address without/],
  [{ SERVICE_URL: '10.0.0.1:8787', TRANSCODER_SECRET: SECRET }, /SERVICE_URL must be an address without a path/],
  [{ SERVICE_URL: 'http://a', TRANSCODER_SECRET: SECRET, TRANSCODER_ID: 'a b' }, /TRANSCODER_ID must have 1 to 64/],
  [{ TRANSCODER_ID: 'one' }, /TRANSCODER_ID needs SERVICE_URL/],
  [{ TRANSCODER_ADVERTISE_URL: 'http://10.0.0.5:8788' }, /TRANSCODER_ADVERTISE_URL needs SERVICE_URL/],
])('a transcoder refuses %o', (env, message) => {
  expect(() => readSettings(env)).toThrow(message)
})
