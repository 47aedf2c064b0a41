// In charge of: the command against the real service, as users and their scripts run it.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandTable } from '../../../../cli/commandTable.ts'
import { Client } from '../../../../client/nodeClient.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { sampled } from '../../../support/longForm.ts'
import { decodeFrames, makeClip, probeFile, tempDirectory } from '../../../support/media/media.ts'
import { PausableFileServer } from '../../../support/http/pausableFileServer.ts'
import { runProgram, SPLICEPOINT, type ProgramResult } from '../../../support/runProgram.ts'
import { jobRequest, Service } from '../../../support/service.ts'

let service: Service
let media: PausableFileServer
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  await makeClip(tempDir.file('film.mp4'), { width: 320, height: 180, seconds: 2 })
  media = resources.use(await PausableFileServer.start(tempDir.file('film.mp4')))
  const prices = { USAGE_PRICES: '{"currency":"EUR","output_hour":{"default":0.5}}' }
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: media.host, ...prices }))
})

function environment(change: Record<string, string> = {}): NodeJS.ProcessEnv {
  const known = service ? { SPLICEPOINT_URL: service.base, SPLICEPOINT_KEY: service.ready.api_key } : {}
  return { ...process.env, ...known, ...change }
}

const splicepoint = (args: string[], { env = {}, stdin = '' } = {}): Promise<ProgramResult> =>
  runProgram(process.execPath, [SPLICEPOINT, ...args], { cwd: tempDir.path, env: environment(env), input: stdin })

const hashOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

describe('a job', () => {
  test('submit uploads, follows and downloads; status, list and download show the same job', async () => {
    const ran = await splicepoint(['submit', 'film.mp4', '-r', '180:400', '-r', '160x90:150', '--download', 'out'])
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.stderr).toMatch(/^Uploading {2}0 % of [\d.]+ kB\nUploading {2}100 % of /)
    expect(ran.stderr).toMatch(/transcode\s+100 %.*done/)
    expect(ran.stderr).not.toContain('\u001B')
    expect(ran.stdout).toMatch(/^Job 1 completed in .*: film\.mp4\n/)

    const status = JSON.parse((await splicepoint(['status', '1', '--json'])).stdout)
    expect(status).toMatchObject({
      _auto_generated_id_: 1,
      status: { state: 'ready', job_completed: true },
      config: {},
    })
    const outputs = status.status.outputs as { path: string; sha256: string }[]
    expect(outputs).toHaveLength(2)
    for (const [index, { path, sha256 }] of outputs.entries()) {
      const file = tempDir.file(`out/${path}`)
      expect(await hashOf(file)).toBe(sha256)
      const { streams } = await probeFile(file)
      expect(streams.map(({ codec_name }) => codec_name)).toEqual(['h264', 'aac'])
      expect(streams[0]!.height).toBe([180, 90][index])
    }

    // Existing files are kept; a damaged one is downloaded again.
    await writeFile(tempDir.file(`out/${outputs[0]!.path}`), 'damaged')
    const again = await splicepoint(['download', '1', '--to', 'out', '--json'])
    expect(again.code).toBe(0)
    expect(JSON.parse(again.stdout)).toMatchObject({ files: [{ already: false }, { already: true }] })
    expect(await hashOf(tempDir.file(`out/${outputs[0]!.path}`))).toBe(outputs[0]!.sha256)

    const list = JSON.parse((await splicepoint(['list', '--json', '--limit', '1'])).stdout)
    expect(list).toMatchObject({ jobs: [{ _auto_generated_id_: 1 }], next_cursor: null })
  })

  test('is found by the name of its source; what was uploaded is listed and deleted', async () => {
    expect(JSON.parse((await splicepoint(['list', '--search', 'FILM.mp4', '--json'])).stdout)).toMatchObject({
      jobs: [{ _auto_generated_id_: 1 }],
    })
    expect(await splicepoint(['list', '--search', 'nothing'])).toMatchObject({ code: 0, stdout: '' })
    expect((await splicepoint(['uploads', 'list', '--limit', '1'])).stdout).toMatch(
      /^NUMBER {2}NAME .*\n +1 {2}film\.mp4 {2}[\d.]+ kB {2}ready .* in 7 days\n$/,
    )
    expect((await splicepoint(['list'])).stdout).toMatch(
      /^ID {2}NAME .*\n 1 {2}film\.mp4 {2}completed .* kB {2}just now\n$/,
    )
    expect(await splicepoint(['uploads', 'delete', '1'])).toMatchObject({ code: 0, stdout: 'Upload 1 is deleted.\n' })
    expect(JSON.parse((await splicepoint(['uploads', 'list', '--json'])).stdout)).toEqual({
      uploads: [],
      next_cursor: null,
    })
    expect(await splicepoint(['uploads', 'delete', '1'])).toMatchObject({ code: 3 })
    for (const odd of [['delete'], ['list', '1'], ['delete', 'x'], ['purge']]) {
      expect((await splicepoint(['uploads', ...odd])).code, odd.join(' ')).toBe(2)
    }
  })

  test('has a part of its source, or several sources in their order, from the command line', async () => {
    const create = async (...sources: string[]) => {
      const ran = await splicepoint(['submit', ...sources, '--json'])
      expect(ran, ran.stderr).toMatchObject({ code: 0 })
      const id = String(JSON.parse(ran.stdout)._auto_generated_id_)
      await splicepoint(['cancel', id])
      return JSON.parse((await splicepoint(['status', id, '--json'])).stdout).config
    }
    expect(await create('film.mp4#t=0.5,1.5')).toMatchObject({ start_seconds: '0.5', end_seconds: '1.5' })
    const config = await create(`${media.url}#t=,1`, 'film.mp4#t=00:00:01', 'film.mp4', '--join')
    const upload = expect.stringMatching(/\/uploads\/\d+$/)
    expect(config.inputs).toEqual([
      { input: media.url, end_seconds: '1' },
      { input: upload, start_seconds: '00:00:01' },
      { input: upload },
    ])
    const [http, file] = ['http', 'file-upload'].map((cloud_provider) => ({ cloud_provider }))
    expect(config.cloud_credentials.inputs).toEqual([http, file, file])
    const several = await splicepoint(['submit', 'film.mp4', 'film.mp4'])
    expect([several.code, several.stderr]).toEqual([2, expect.stringContaining('add --join')])
  })

  test('has caption files from the command line', async () => {
    await writeFile(tempDir.file('de.srt'), '1\n00:00:00,500 --> 00:00:01,000\nHallo\n')
    const captions = ['--captions', 'de=de.srt', '--captions', `en=${media.url}`]
    const ran = await splicepoint(['submit', 'film.mp4', ...captions, '--burn-in', 'EN', '--json'])
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
    const id = String(JSON.parse(ran.stdout)._auto_generated_id_)
    await splicepoint(['cancel', id])
    expect(JSON.parse((await splicepoint(['status', id, '--json'])).stdout).config.captions).toEqual([
      { input: expect.stringMatching(/^\/uploads\/\d+$/), language: 'de' },
      { input: media.url, language: 'en' },
    ])
    expect(JSON.parse((await splicepoint(['status', id, '--json'])).stdout).config.burn_in_captions).toEqual({
      captions: 1,
    })
    const unknown = await splicepoint(['submit', 'film.mp4', ...captions, '--burn-in', 'fr'])
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('write the language of one of the --captions'),
    ])
    for (const wrong of ['de.srt', 'german=de.srt', 'de=missing.srt', 'de=de.srt#t=1,2'])
      expect((await splicepoint(['submit', 'film.mp4', '--captions', wrong])).code, wrong).toBe(2)
  })

  test('from standard input; the same Idempotency-Key makes no second one', async () => {
    const args = ['submit', '--file', '-', '--json', '--idempotency-key', 'once']
    const stdin = JSON.stringify(jobRequest(media.url, 'http'))
    const first = await splicepoint(args, { stdin })
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(first.stdout)).toMatchObject({ job_id: expect.any(String), warnings: [] })
    expect((await splicepoint(args, { stdin })).stdout).toBe(first.stdout)
    const id = String(JSON.parse(first.stdout)._auto_generated_id_)
    const watched = await splicepoint(['status', id, '--watch', '--json'])
    expect(watched).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(watched.stdout).status.job_completed).toBe(true)
    expect(await splicepoint(['cancel', id])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('job_finished'),
    })
    expect(await splicepoint(['delete', id])).toMatchObject({ code: 0 })
    expect(await splicepoint(['status', id])).toMatchObject({ code: 3, stderr: expect.stringContaining('not_found') })
  })

  test('that fails is exit code 1 with its error, and retry makes a new one', async () => {
    await writeFile(tempDir.file('text.mp4'), 'no film '.repeat(500))
    const ran = await splicepoint(['submit', 'text.mp4', '-r', '180', '--watch', '--json'])
    expect(ran.code).toBe(1)
    const failed = JSON.parse(ran.stdout)
    expect(failed.status.error.code).toBe('source_not_media')
    const id = String(failed._auto_generated_id_)
    expect(await splicepoint(['download', id])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /source_not_media\)\n {2}Check that the address .*\n(?: {4}.*\n)* {2}https:\S+#source_not_media\n$/,
      ),
    })
    const retried = await splicepoint(['retry', id, '--watch'])
    expect(retried).toMatchObject({ code: 1, stdout: expect.stringContaining('source_not_media') })
  })

  test('continues when `status --watch` is interrupted, and ends when it is cancelled', async () => {
    media.pauseAt(0.3)
    const created = await splicepoint(['submit', media.url, '-r', '180', '--json'])
    const id = String(JSON.parse(created.stdout)._auto_generated_id_)
    const child = spawn(process.execPath, [SPLICEPOINT, 'status', id, '--watch'], {
      cwd: tempDir.path,
      env: environment(),
    })
    await new Promise((resolve) => child.stderr.once('data', resolve))
    child.kill('SIGINT')
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(130)
    expect(await service.status(Number(id))).toMatchObject({ job_completed: false })
    expect(await splicepoint(['cancel', id])).toMatchObject({ code: 0, stdout: `Job ${id} is cancelled.\n` })
    media.resume()
    expect(await splicepoint(['status', id, '--watch'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('cancelled'),
    })
  })
})

interface Report {
  objects: { path: string; size: number; sha256: string }[]
}

describe('the source', () => {
  const stored = async (): Promise<{ name: string }[]> =>
    JSON.parse((await splicepoint(['uploads', 'list', '--json'])).stdout).uploads

  test('is not sent before the job was found to be right', async () => {
    const before = (await stored()).length
    for (const [rendition, message] of [
      ['9999', /height must be .* 4320/],
      ['720:10', /video_bitrate.*at least/],
    ] as const) {
      const ran = await splicepoint(['submit', 'film.mp4', '-r', rendition])
      expect(ran).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(message) })
      expect(ran.stderr).not.toMatch(/Uploading|upload_not_found/)
    }
    expect(await stored()).toHaveLength(before)
  })

  test('is sent once, however many jobs are made of it, until its content changes', async () => {
    await makeClip(tempDir.file('again.mp4'), { width: 160, height: 90, seconds: 1 })
    const submit = (...args: string[]) => splicepoint(['submit', 'again.mp4', '-r', '90:150', ...args])
    const again = async () => (await stored()).filter(({ name }) => name === 'again.mp4').length
    expect((await submit()).stderr).toMatch(/^Uploading/)
    const second = await submit()
    expect(second).toMatchObject({ code: 0, stderr: expect.stringMatching(/^again\.mp4 .* is still stored/) })
    expect(second.stderr).not.toMatch(/Uploading/)
    expect(await again()).toBe(1)
    expect((await submit('--upload-again')).stderr).toMatch(/^Uploading/)
    // The same length, but other bytes.
    const bytes = await readFile(tempDir.file('again.mp4'))
    bytes[bytes.length - 1]! ^= 1
    await writeFile(tempDir.file('again.mp4'), bytes)
    expect((await submit()).stderr).toMatch(/^Uploading/)
    expect(await again()).toBe(3)
  })
})

describe('one line is enough', () => {
  test('--hls --dash for a clip without audio; --download brings the whole tree, and it plays from there', async () => {
    await makeClip(tempDir.file('silent.mp4'), { width: 320, height: 180, seconds: 4, audio: [] })
    const ran = await splicepoint(['submit', 'silent.mp4', '--hls', '--dash', '--download', 'tree'])
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stdout).toMatch(/Warning: Audio profile 0 is left out/)
    expect(ran.stdout).not.toMatch(/upscal/i)
    const id = /^Job (\d+) completed/.exec(ran.stdout)![1]!
    const { outputs } = JSON.parse((await splicepoint(['status', id, '--json'])).stdout).status as PublicStatus
    const report = JSON.parse(await readFile(tempDir.file('tree/job.json'), 'utf8')) as Report
    const segments = outputs.reduce((sum, output) => sum + (output.segments?.count ?? 0), 0)
    expect(segments).toBeGreaterThan(0)
    expect(report.objects.length).toBeGreaterThan(segments)
    for (const { path, size, sha256 } of [...report.objects, ...outputs]) {
      expect((await readFile(tempDir.file(`tree/${path}`))).length, path).toBe(size)
      expect(await hashOf(tempDir.file(`tree/${path}`)), path).toBe(sha256)
    }
    for (const manifest of ['master.m3u8', 'manifest.mpd']) {
      expect(await decodeFrames(tempDir.file(`tree/${manifest}`)), manifest).toHaveLength(4 * 25)
    }
    const again = JSON.parse((await splicepoint(['download', id, '--to', 'tree', '--json'])).stdout) as {
      files: { already: boolean }[]
    }
    expect(again.files.length).toBe(new Set([...report.objects, ...outputs].map(({ path }) => path)).size)
    expect(again.files.every(({ already }) => already)).toBe(true)
  })

  test('--dry-run describes the outputs, the time and the cost', async () => {
    const ran = await splicepoint(['submit', 'film.mp4', '--mp4', '--dry-run'])
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stdout).toMatch(/^Job \d+ dry run completed in .*: film\.mp4\n/)
    for (const row of [
      'Source +2 s, .* h264 320×180 25 fps',
      'Time +about ',
      'Size +about .* [kM]B',
      'Cost +about \\$0',
    ]) {
      expect(ran.stdout).toMatch(new RegExp(`^  ${row}`, 'm'))
    }
    expect(ran.stdout).toMatch(
      /^ {2}OUTPUT +SIZE +VIDEO {2}AUDIO +FILE SIZE\n {2}\S+\.mp4 {2}320×180 +[\d.]+ [kM]bps {2}aac 128 kbps {2}about /m,
    )
    expect(ran.stdout).not.toMatch(/[{}]/)
    for (const line of ran.stdout.trimEnd().split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })
})

describe('a result', () => {
  let id = ''

  test('of a preset is shared in the same line; the page needs no key, and is listed and revoked', async () => {
    const args = ['--preset', 'mp4', '-m', 'show=pilot', '-m', 'part=1', '--share', '--title', 'Pilot']
    const ran = await splicepoint(['submit', 'film.mp4', ...args, '--json'])
    expect(ran.code, ran.stderr).toBe(0)
    const document = JSON.parse(ran.stdout)
    id = String(document._auto_generated_id_)
    expect(document).toMatchObject({
      config: { preset: 'mp4', metadata: { show: 'pilot', part: '1' } },
      share: { title: 'Pilot', url: expect.stringContaining('/s/') },
    })
    expect((await fetch(document.share.url)).status).toBe(200)
    expect((await splicepoint(['share', id, '--list'])).stdout).toContain(document.share.url)
    const shared = await splicepoint(['share', id, '--expires', '1h'])
    expect(shared.stdout).toMatch(/^http\S+\/s\/\S+\nPlays in any browser without a key, until 20/)
    expect(await splicepoint(['share', id, '--revoke', document.share.share_id])).toMatchObject({ code: 0 })
    expect((await fetch(document.share.url)).status).toBe(404)
  })

  test('is found by its metadata', async () => {
    const found = await splicepoint(['list', '-m', 'show=pilot', '--json'])
    expect(JSON.parse(found.stdout).jobs).toMatchObject([{ _auto_generated_id_: Number(id), metadata: { part: '1' } }])
    expect(await splicepoint(['list', '-m', 'show=pilot', '-m', 'part=2'])).toMatchObject({ code: 0, stdout: '' })
    expect((await splicepoint(['status', id])).stdout).toMatch(/^ {2}show +pilot$/m)
  })

  test('has a log with its ffmpeg commands, and comes as one tar', async () => {
    expect((await splicepoint(['log', id])).stdout).toMatch(/^Attempt 1: [\s\S]*exit code 0\n\S*ffmpeg .*-i /)
    const ran = await splicepoint(['archive', id, '--to', 'all.tar', '--json'])
    expect(ran.code, ran.stderr).toBe(0)
    const { outputs } = JSON.parse((await splicepoint(['status', id, '--json'])).stdout).status as PublicStatus
    const names = execFileSync('tar', ['-tf', tempDir.file('all.tar')], { encoding: 'utf8' })
      .trim()
      .split('\n')
    for (const { path } of outputs)
      expect(
        names.some((name) => name.endsWith(path)),
        path,
      ).toBe(true)
    expect((await readFile(tempDir.file('all.tar'))).length).toBe(JSON.parse(ran.stdout).size)
  })
})

test('presets are saved, used, shown, replaced and deleted', async () => {
  const preset = (kbps: number) => ({
    videoProfiles: [{ width: 0, height: 90, video_bitrate: kbps }],
    audioProfiles: [],
  })
  await writeFile(tempDir.file('preset.json'), JSON.stringify(preset(150)))
  expect((await splicepoint(['presets', 'list'])).stdout).toMatch(/^hls +HLS and DASH: \S/m)
  const save = ['presets', 'save', 'Tiny', '--file', 'preset.json', '--description', 'Small.']
  expect(await splicepoint(save)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Preset Tiny is saved/) })
  await writeFile(tempDir.file('preset.json'), JSON.stringify(preset(200)))
  expect((await splicepoint(save)).stdout).toMatch(/is replaced/)
  expect(JSON.parse((await splicepoint(['presets', 'show', 'tiny'])).stdout)).toMatchObject(preset(200))
  const made = await splicepoint(['submit', 'film.mp4', '-p', 'Tiny', '--watch', '--json'])
  expect(JSON.parse(made.stdout).config).toMatchObject({ preset: 'Tiny', videoProfiles: [{ video_bitrate: 200 }] })
  expect(await splicepoint(['presets', 'delete', 'Tiny'])).toMatchObject({ code: 0 })
  expect(await splicepoint(['presets', 'show', 'Tiny'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('There is no preset Tiny'),
  })
  expect(await splicepoint(['submit', 'film.mp4', '-p', 'Tiny'])).toMatchObject({ code: 3 })
})

test('a token uploads, and does nothing else', async () => {
  const args = ['uploads', 'token', '--max-bytes', '1MB', '--max-files', '1', '--expires', '10m']
  const token = JSON.parse((await splicepoint([...args, '--json'])).stdout)
  expect(token).toMatchObject({ max_bytes: 1_000_000, max_files: 1 })
  expect((await splicepoint(args)).stdout).toMatch(/^\S+\nFor 1 file of at most 1 MB, until /)
  const client = new Client(service.base, { token: token.token })
  const { uploaded_file_number } = await client.upload(tempDir.file('film.mp4'), undefined, { reuse: true })
  expect(uploaded_file_number).toBeGreaterThan(0)
  await expect(client.list()).rejects.toMatchObject({
    name: 'ServiceError',
    status: expect.toSatisfy((n) => n === 401 || n === 403),
  })
  await expect(client.upload(tempDir.file('film.mp4'))).rejects.toMatchObject({ name: 'ServiceError' })
})

describe('a refusal', () => {
  test('names the field and the allowed values; --json prints the service’s error', async () => {
    const args = ['submit', media.url, '--codec', 'vp9', '--set', 'rotation_blackness=200', '-r', '180']
    const ran = await splicepoint(args)
    expect(ran).toMatchObject({ code: 3, stdout: '' })
    expect(ran.stderr).toContain('2 problems (invalid_request)')
    expect(ran.stderr).toMatch(/video_codec must be one of "h\.264", "mpeg2", "hevc"/)
    expect(ran.stderr).toMatch(/rotation_blackness.* 100/)
    const json = await splicepoint([...args, '--json'])
    expect(json).toMatchObject({ code: 3, stdout: '' })
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: 'invalid_request', details: [{ field: 'video_codec' }, { field: 'rotation_blackness' }] },
      http_status: 400,
    })
  })

  test('of a key', async () => {
    expect(await splicepoint(['list', '--key', 'wrong'])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/ \(unauthorized\)\n {2}Use another API key .*\n {2}https:\S+#unauthorized\n$/),
    })
    expect(await splicepoint(['keys', 'list'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('(forbidden)'),
    })
  })

  test('without a service: exit code 4', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const ran = await splicepoint(['status', '1', '--url', `http://127.0.0.1:${port}`, '--json'])
    expect(ran.code).toBe(4)
    expect(JSON.parse(ran.stderr)).toMatchObject({
      error: { code: 'network', message: expect.stringContaining('ECONNREFUSED') },
    })
  })
})

test('keys are issued, used, rotated and revoked', async () => {
  const env = { SPLICEPOINT_KEY: service.ready.admin_key }
  const issued = JSON.parse((await splicepoint(['keys', 'issue', '--label', 'test', '--json'], { env })).stdout)
  expect(issued).toMatchObject({ label: 'test', scopes: ['jobs'], key: expect.stringMatching(/^sp_/) })
  const rotated = JSON.parse((await splicepoint(['keys', 'rotate', issued.id, '--json'], { env })).stdout)
  expect(await splicepoint(['list'], { env: { SPLICEPOINT_KEY: issued.key } })).toMatchObject({ code: 3 })
  expect(await splicepoint(['list'], { env: { SPLICEPOINT_KEY: rotated.key } })).toMatchObject({ code: 0 })
  expect(await splicepoint(['keys', 'revoke', rotated.id], { env })).toMatchObject({ code: 0 })
  expect((await splicepoint(['keys', 'list'], { env })).stdout).toMatch(new RegExp(`${rotated.id}.*revoked`))
})

test('usage is shown, as JSON and as CSV; a spend cap is set and removed', async () => {
  const env = { SPLICEPOINT_KEY: service.ready.admin_key }
  const document = await (await service.call('/api/v0/usage')).json()
  expect(JSON.parse((await splicepoint(['usage', '--json'])).stdout)).toEqual(document)
  const { stdout } = await splicepoint(['usage'])
  expect(stdout).toMatch(/^ITEM +CLASS +QUANTITY +PRICE +COST +CURRENCY\njobs +c/)
  expect(stdout).toMatch(/\noutput_hours +\d+p h264 +0\.\d+ +0\.5 +0\.\d+ +EUR\n/)
  const csv = await (await service.call('/api/v0/usage?format=csv')).text()
  expect((await splicepoint(['usage', '--csv'])).stdout).toBe(csv)
  expect((await splicepoint(['usage', '--accounts', '--csv'], { env })).stdout).toBe(csv)
  expect((await splicepoint(['usage', '--month', '2020-01'])).stdout).toBe('')
  expect((await splicepoint(['usage', '--month', 'May'])).stderr).toContain('month must be a month in UTC')
  expect((await splicepoint(['spend-cap', 'default', '100'], { env })).stdout).toBe(
    'default may spend 100 in a calendar month (UTC).\n',
  )
  expect((await splicepoint(['usage'])).stdout).toMatch(/\nSpent this month: 0\.\d\d of 100\.00 EUR\n/)
  expect((await splicepoint(['spend-cap', 'default', 'none'], { env })).stdout).toBe('default has no spend cap.\n')
  expect((await splicepoint(['spend-cap', 'default', 'much'], { env })).code).toBe(2)
})

test('login keeps an address and a key, from standard input, that later commands use until logout', async () => {
  const env = { SPLICEPOINT_URL: '', SPLICEPOINT_KEY: '', XDG_CONFIG_HOME: tempDir.file('config') }
  expect((await splicepoint(['list'], { env })).stderr).toContain('splicepoint login')
  const address = ['--url', service.base]
  const refused = await splicepoint(['login', ...address], { env, stdin: 'sp_wrong\n' })
  expect(refused).toMatchObject({ code: 3, stdout: '' })
  expect(await splicepoint(['login', ...address], { env, stdin: `${service.ready.api_key}\n` })).toMatchObject({
    code: 0,
  })
  expect((await stat(tempDir.file('config/splicepoint/profiles.json'))).mode & 0o777).toBe(0o600)
  expect(await splicepoint(['list', '--json'], { env })).toMatchObject({ code: 0, stderr: '' })
  expect((await splicepoint(['list', '--profile', 'other'], { env })).stderr).toContain('no profile "other"')
  expect(await splicepoint(['logout'], { env })).toMatchObject({ code: 0 })
  expect(await splicepoint(['list'], { env })).toMatchObject({ code: 2 })
})

test('events are told to the end; open leads to the page of the job', async () => {
  const { stdout: id } = await splicepoint(['submit', 'film.mp4', '-r', '180:400'])
  const followed = await splicepoint(['events', id.trim(), '--follow'])
  expect(followed.stdout).toMatch(/Attempt 1 started\.\n[\s\S]*\n[^\n]*\n$/)
  const listed = await splicepoint(['events', id.trim(), '--json'])
  const types = listed.stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type)
  expect([types[0], types.at(-1)]).toEqual(['job.created', 'job.completed'])
  expect(followed.stdout.trim().split('\n')).toHaveLength(types.length)
  const opened = tempDir.file('opened')
  for (const name of ['xdg-open', 'open']) {
    await mkdir(tempDir.file('bin'), { recursive: true })
    await writeFile(tempDir.file(`bin/${name}`), `#!/bin/sh\necho "$1" > '${opened}'\n`, { mode: 0o755 })
  }
  const ran = await splicepoint(['open', id.trim()], { env: { PATH: `${tempDir.file('bin')}:${process.env['PATH']}` } })
  expect(ran).toMatchObject({ code: 0, stdout: `${service.base}/jobs/${id.trim()}\n` })
  expect(await readFile(opened, 'utf8')).toBe(ran.stdout)
})

test('limits are those of the service', async () => {
  const { stdout } = await splicepoint(['limits', '--json'])
  expect(JSON.parse(stdout)).toEqual(await (await service.call('/api/v0/limits')).json())
})

const WRONG_USAGE: [string[], RegExp][] = [
  [['nonsense'], /is not a command/],
  [['status'], /splicepoint status ID/],
  [['status', 'x'], /is not a job id/],
  [['status', '1', '--nonsense'], /--nonsense/],
  [['submit'], /The source is missing/],
  [['submit', 'absent.mp4'], /no file absent\.mp4/],
  [['submit', 'ftp://x/y'], /cannot read from ftp/],
  [['submit', 'film.mp4', '-r', '1080q'], /1080q/],
  [['submit', 'film.mp4', '--mp4', '--hls'], /cannot be combined/],
  [['uploads', 'token', '--expires', 'soon'], /not a duration/],
  [['submit', '--file', 'film.mp4'], /is not JSON/],
  [['submit', '--file', 'absent.json'], /cannot be read \(ENOENT\)/],
  [['keys', 'rotate'], /The id of the key is missing/],
  [['completion', 'tcsh'], /bash, zsh, fish/],
  [['list', '--url', 'http://key:@localhost'], /without the key/],
]

// In one process: test/node/cli/arguments.test.ts.
test.each(sampled(WRONG_USAGE, 4))('%j is wrong usage: exit code 2', async (args, message) => {
  const ran = await splicepoint(args)
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toMatch(message)
})

test.each(sampled(['bash', 'zsh', 'fish'], 1))('completion for %s names every command and option', async (shell) => {
  const { stdout, code } = await splicepoint(['completion', shell], { env: { SPLICEPOINT_URL: '' } })
  expect(code).toBe(0)
  for (const [name, { options }] of Object.entries(commandTable)) {
    expect(stdout).toMatch(new RegExp(`\\b${name}\\b`))
    for (const option of Object.keys(options)) expect(stdout).toMatch(new RegExp(`(--|-l )${option}\\b`))
  }
})

test('bash completes commands, options and values by the script', async () => {
  const { stdout } = await splicepoint(['completion', 'bash'])
  const complete = async (...words: string[]): Promise<string> => {
    const script = `${stdout}\nCOMP_WORDS=(splicepoint ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _splicepoint; echo "\${COMPREPLY[*]}"`
    return (await runProgram('bash', ['-c', script])).stdout.trim()
  }
  expect(await complete('st')).toBe('status')
  expect(await complete('submit', '--no-a')).toBe('--no-audio')
  expect(await complete('submit', '--codec', 'h')).toBe('h.264 hevc')
  expect(await complete('keys', 'ro')).toBe('rotate')
  expect(await complete('--json', 'st')).toBe('status')
  expect(await complete('--json', 'submit', '--no-a')).toBe('--no-audio')
  expect(await complete('--ver')).toBe('--version')
})
