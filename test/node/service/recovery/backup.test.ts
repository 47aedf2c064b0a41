// The files of a service that runs: those of ended jobs, `npm run backup` and `npm run restore`.
// Not in charge of: a restored service that continues jobs (../hosts/selfHosting.long.test.ts).
import { randomBytes } from 'node:crypto'
import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, expect, test } from 'vitest'
import { databaseFile } from '../../../../scripts/local/applyMigrations.ts'
import { removeEmptyObjects } from '../../../../scripts/local/emptyObjects.ts'
import { openStateDirectory } from '../../../../scripts/local/stateDirectory.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip } from '../../../support/media/media.ts'
import { runProgram } from '../../../support/runProgram.ts'
import { jobRequest, ROOT, Service, waitFor } from '../../../support/service.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const temp = useTempDirectory()
const resources = fileResources()
const content = randomBytes(200_000)
let service: Service
let backup: string
let answer: Answer

interface Answer {
  code: number | null
  output: string
}

async function run(script: 'backup' | 'restore', args: string[], stateDir: string): Promise<Answer> {
  const { code, stdout, stderr } = await runProgram(process.execPath, [join(ROOT, `scripts/${script}.ts`), ...args], {
    env: { STATE_DIR: stateDir },
  })
  return { code, output: stdout + stderr }
}

beforeAll(async () => {
  service = resources.use(await Service.start())
  const file = temp.file('film.mp4')
  await writeFile(file, content)
  await service.upload(file)
  backup = temp.file('backup')
  answer = await run('backup', [backup], service.stateDir)
})

test('a restored backup has the ledger, the objects and the secrets of the running service', async () => {
  expect(answer).toEqual({
    code: 0,
    output: expect.stringMatching(/: \d+ files, \d+ bytes; the service paused for \d+ ms\.\n$/) as string,
  })
  const restored = temp.file('restored')
  expect(await run('restore', [backup], restored)).toMatchObject({ code: 0 })
  using database = new DatabaseSync(databaseFile(restored), { readOnly: true })
  expect(database.prepare('SELECT name, size FROM uploads').all()).toEqual([
    expect.objectContaining({ size: content.length }),
  ])
  const blobs = join(restored, 'v3/r2/splicepoint/blobs')
  const [blob, ...others] = await readdir(blobs)
  expect(others).toEqual([])
  expect((await readFile(join(blobs, blob ?? ''))).equals(content)).toBe(true)
  expect(await readFile(join(restored, 'secrets.json'), 'utf8')).toBe(
    await readFile(join(service.stateDir, 'secrets.json'), 'utf8'),
  )
  // Nothing of it is left with the service, which still answers.
  expect(await readdir(join(service.stateDir, 'run'))).not.toContain('backup')
  expect(await service.isServing()).toBe(true)
})

test('--since shares what an earlier backup has', async () => {
  const file = temp.file('small.mp4')
  await writeFile(file, randomBytes(5000))
  await service.upload(file)
  const later = temp.file('later')
  expect(await run('backup', ['--since', backup, later], service.stateDir)).toMatchObject({ code: 0 })
  const shared = async (directory: string): Promise<number[]> => {
    const blobs = join(directory, 'v3/r2/splicepoint/blobs')
    return Promise.all((await readdir(blobs)).map(async (name) => (await stat(join(blobs, name))).ino))
  }
  const [before, after] = [await shared(backup), await shared(later)]
  expect(after).toEqual(expect.arrayContaining(before))
  expect(after.length).toBeGreaterThan(before.length)
  expect(await run('restore', ['--check', later], temp.file('nowhere'))).toMatchObject({ code: 0 })
})

test('of ended jobs no file is left, while others go on', async () => {
  const state = await openStateDirectory(service.stateDir)
  // As in the service: while another pause lasts, or the runtime does not stop in its time, none is removed.
  const remove = (): Promise<unknown> =>
    removeEmptyObjects(state, service.ready.pids.workerd ?? 0, new Map(), 0).catch(() => null)
  const objects = async (): Promise<string[]> =>
    (await readdir(join(service.stateDir, 'v3/do'), { recursive: true })).filter((name) =>
      /[0-9a-f]{64}\.sqlite/.test(name),
    )
  const clip = await makeClip(temp.file('clip.mp4'), { seconds: 2 })
  const request = jobRequest(await service.upload(clip), 'file-upload')
  const ids = await Promise.all([1, 2, 3, 4].map(() => service.create(request)))
  await service.call(`/api/v0/job/${ids[3]}/cancel`, { method: 'POST' })
  expect(await objects()).not.toEqual([])
  for (const id of ids.slice(0, 3)) {
    const status = await waitFor(`job ${id} to end`, async () => {
      await remove()
      const now = await service.status(id)
      return now?.job_completed === true ? now : null
    })
    expect(status).toMatchObject({ state: 'ready', error: null })
  }
  await waitFor('their files to be gone', async () => {
    await remove()
    return (await objects()).length === 0
  })
  expect(await service.run(request)).toMatchObject({ state: 'ready' })
})

test('refuses to write over what is there', async () => {
  expect(await run('restore', [backup], service.stateDir)).toEqual({
    code: 1,
    output: expect.stringMatching(/is not empty .* restored into a new directory only/) as string,
  })
  expect(await run('backup', [backup], service.stateDir)).toEqual({
    code: 1,
    output: `${backup} is not empty. Each backup needs its own directory.\n`,
  })
  const inside = join(service.stateDir, 'backup')
  expect((await run('backup', [inside], service.stateDir)).output).toMatch(/A backup belongs on another disk/)
})

test('refuses what is no backup, is incomplete or damaged, or is newer', async () => {
  const empty = temp.file('empty')
  expect((await run('backup', [empty], temp.file('nothing'))).output).toMatch(/has no data of a service/)
  expect((await run('restore', ['--check', temp.path], empty)).output).toMatch(/is not a complete backup/)
  const list = join(backup, 'backup.json')
  const text = await readFile(list, 'utf8')
  const manifest = JSON.parse(text) as { migrations: string[]; files: { path: string }[] }

  await writeFile(list, JSON.stringify({ ...manifest, migrations: [...manifest.migrations, '9999_later.sql'] }))
  expect((await run('restore', [backup], empty)).output).toMatch(/this version, [\d.]+, does not have: 9999_later\.sql/)
  await writeFile(list, JSON.stringify({ ...manifest, files: [{ ...manifest.files[0], path: '../secrets.json' }] }))
  expect((await run('restore', [backup], empty)).output).toMatch(/backup\.json is damaged/)
  await writeFile(list, text)

  const blob = join(backup, manifest.files.find(({ path }) => path.includes('/blobs/'))?.path ?? '')
  await appendFile(blob, 'x')
  expect((await run('restore', ['--check', backup], empty)).output).toMatch(/The backup is damaged: v3.*blobs/)
  await rm(blob)
  expect(await run('restore', [backup], empty)).toMatchObject({
    code: 1,
    output: expect.stringMatching(/The backup is incomplete: v3.*blobs.* is missing/) as string,
  })
  expect((await readdir(empty)).toSorted()).toEqual(['logs', 'run'])
})
