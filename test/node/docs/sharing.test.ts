// In charge of: the commands of docs/sharing.md exactly as shown, and the tar of a job as GNU tar, sha256sum and
// ffprobe read it.
// Not in charge of: the players of docs/your-site.md in a browser (test/node/web/browser/sharedPages.long.test.ts).
import { readFile, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, expect, test, type TestContext } from 'vitest'
import { findOnPath } from '../../../transcoder/ffmpeg/sandbox.ts'
import { fileResources } from '../../support/fileResources.ts'
import { skipTest } from '../../support/requirement.ts'
import { runBash } from '../../support/runProgram.ts'
import { ffmpeg, makeClip, probeFile, tempDirectory } from '../../support/media/media.ts'
import { jobRequest, ROOT, Service } from '../../support/service.ts'

const DIRECTORY = 'shows/été 1'
let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let id: number
let blocks: string[]
const missing = (
  await Promise.all(['curl', 'tar', 'sha256sum'].map(async (name) => [name, await findOnPath(name)] as const))
)
  .filter(([, path]) => path === null)
  .map(([name]) => name)

const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  const page = await readFile(join(ROOT, 'docs/sharing.md'), 'utf8')
  blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
  await makeClip(tempDir.file('My film.mp4'), { width: 320, height: 180, seconds: 4, audio: [2] })
  service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
  const rungs = [
    { output: '', width: 320, height: 180, video_bitrate: 400 },
    { output: 'low', width: 160, height: 90, video_bitrate: 150 },
  ]
  id = await service.create(
    jobRequest(await service.upload(tempDir.file('My film.mp4')), 'file-upload', {
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      bucket_output_path: DIRECTORY,
      segment_length: 1,
      gop_length: 1,
      thumbnails: true,
      videoProfiles: rungs,
    }),
  )
  const { error } = await service.waitForEnd(id)
  if (error !== null) throw new Error(`job ${id}: ${error.message}`)
})
beforeEach((context: TestContext) => {
  if (missing.length > 0) skipTest(context, `${missing.join(', ')} not installed`)
})

async function shell(script: string, names: Record<string, string> = {}): Promise<string> {
  const known = { BASE: service.base, KEY: service.ready.api_key, JOB: String(id), LC_ALL: 'C.UTF-8' }
  const { stdout, stderr } = await runBash(script, { cwd: tempDir.path, env: { ...known, ...names } })
  return stdout + stderr
}

const block = (start: string): string => {
  const found = blocks.find((each) => each.startsWith(start))
  if (found === undefined) throw new Error(`docs/sharing.md has no block that begins with ${start}`)
  return found
}

test('a share is made by the command of the page, and its data read by the next one', async () => {
  const made = JSON.parse(await shell(block('curl -sS --fail-with-body -u')))
  expect(made).toMatchObject({ title: 'Our film' })
  const data = JSON.parse(await shell(block('curl -sS --fail-with-body "${SHARE_URL'), { SHARE_URL: made.url }))
  expect(data.sources.map(({ kind }: { kind: string }) => kind)).toEqual(['hls', 'dash'])
  const answer = await fetch(data.sources[0].url, { headers: { origin: 'https://elsewhere.example' } })
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(await answer.text()).toMatch(/^#EXTM3U/)
})

test('the tar has every object, by its name, and each is what job.json says', async () => {
  const { archive_url: address } = (await service.status(id))!
  const listing = await shell(block('curl -fsS -C -'), { ARCHIVE_URL: address ?? '' })
  const listed = listing
    .trim()
    .split('\n')
    .map((line) => /^-rw-r--r-- (?:\S+\/\S+|0\/0) +(\d+) \d{4}-\d\d-\d\d \d\d:\d\d (.*)$/.exec(line))
  expect(listed.filter((line) => line === null)).toEqual([])
  expect(await shell('tar -xf outputs.tar --warning=all')).toBe('')

  const [root = ''] = listed.map((line) => line![2]!.split('/')[0]!)
  expect(new Set(listed.map((line) => line![2]!.split('/')[0]))).toEqual(new Set([root]))
  const directory = tempDir.file(`${root}/${DIRECTORY}`)
  const report = JSON.parse(await readFile(join(directory, 'job.json'), 'utf8')) as {
    objects: { path: string; size: number; sha256: string }[]
  }
  const paths = listed.map((line) => line![2]!.slice(root.length + 1))
  expect(report.objects.length).toBeGreaterThan(20)
  expect(paths.toSorted()).toEqual([...report.objects.map(({ path }) => path), `${DIRECTORY}/job.json`].toSorted())
  const sums = report.objects.map(({ path, sha256 }) => `${sha256}  ${root}/${path}\n`).join('')
  const checked = await shell(`printf '%s' "$SUMS" | sha256sum --check --strict`, { SUMS: sums })
  expect(checked.trim().split('\n')).toHaveLength(report.objects.length)
  // The unpacked files play from disk.
  const { streams } = await probeFile(join(directory, 'master.m3u8'))
  expect(new Set(streams.map(({ codec_name: codec }) => codec))).toEqual(new Set(['h264', 'aac']))
  await ffmpeg(['-v', 'error', '-xerror', '-i', join(directory, 'master.m3u8'), '-f', 'null', '-'])
})

test('a download that broke off is resumed by the same command', async () => {
  const { archive_url: address } = (await service.status(id))!
  await shell('curl -fsS -o whole.tar "$ARCHIVE_URL"', { ARCHIVE_URL: address ?? '' })
  await shell('cp whole.tar outputs.tar')
  await truncate(tempDir.file('outputs.tar'), 70_001)
  await shell(block('curl -fsS -C -'), { ARCHIVE_URL: address ?? '' })
  expect(await shell('cmp whole.tar outputs.tar')).toBe('')
  const head = await shell('curl -fsSI "$ARCHIVE_URL"', { ARCHIVE_URL: address ?? '' })
  expect(Number(/content-length: (\d+)/i.exec(head)?.[1])).toBe(Number(await shell('stat -c %s whole.tar')))
})
