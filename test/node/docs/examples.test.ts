// In charge of: the examples that need the service, run exactly as the pages show them. What they name and this machine
// does not have (example.com, a file) is replaced.
// Not in charge of: the README's first job (readme.test.ts), the reference (../service/api/openapi.test.ts).
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Upload } from 'tus-js-client'
import { beforeAll, beforeEach, expect, test, type TestContext } from 'vitest'
import { findOnPath } from '../../../transcoder/ffmpeg/sandbox.ts'
import { fileResources } from '../../support/fileResources.ts'
import { skipTest } from '../../support/requirement.ts'
import { runBash, SPLICEPOINT } from '../../support/runProgram.ts'
import { ffmpeg, makeClip, probeFile, tempDirectory } from '../../support/media/media.ts'
import { ROOT, Service, waitFor } from '../../support/service.ts'
import { WebSite } from '../../support/http/webSite.ts'

let service: Service
let site: WebSite
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const curl = await findOnPath('curl')

const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  await makeClip(tempDir.file('film.mp4'), { width: 640, height: 360, seconds: 2, audio: [2] })
  await ffmpeg(['-f', 'lavfi', '-i', 'color=white:s=64x32', '-frames:v', '1', tempDir.file('logo.png')])
  await ffmpeg(['-f', 'lavfi', '-i', 'sine=duration=2', tempDir.file('talk.wav')])
  await ffmpeg(['-i', tempDir.file('film.mp4'), '-c', 'copy', tempDir.file('feed.ts')])
  for (const name of ['bumper.mp4', 'credits.mp4', 'film.mov'])
    await copyFile(tempDir.file('film.mp4'), tempDir.file(name))
  site = resources.use(await WebSite.start())
  for (const name of ['film.mp4', 'film.mov', 'bumper.mp4', 'credits.mp4', 'feed.ts', 'logo.png', 'talk.wav'])
    site.files.set(`/${name}`, await readFile(tempDir.file(name)))
  site.files.set('/2010/05/sintel/trailer.mp4', await readFile(tempDir.file('film.mp4')))
  site.files.set('/film.de.srt', Buffer.from('1\n00:00:00,500 --> 00:00:01,500\nHallo\n'))
  site.types.set('/logo.png', 'image/png')
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: site.host }))
})
beforeEach((context: TestContext) => {
  if (curl === null) skipTest(context, 'curl is not installed')
})

/** The blocks of a page that start with this text, with the example host replaced by the loopback address. */
async function blocks(page: string, start: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^```\w+[^\n]*\n([\s\S]*?)^```$/gm)]
    .map(([, block]) => block!.replaceAll(/https:\/\/(?:example\.com|media\.w3\.org)/g, site.url))
    .filter((block) => block.startsWith(start))
}

/** Runs `npx splicepoint` as the command of this checkout, in any directory. */
async function shell(script: string): Promise<string> {
  const env = { BASE: service.base, KEY: service.ready.api_key }
  const npx = `npx() { shift; '${process.execPath}' '${SPLICEPOINT}' "$@"; }`
  return (await runBash(`${npx}\n${script}`, { cwd: tempDir.path, env })).stdout
}

const idOf = (answer: string): number => Number(/"_auto_generated_id_":(\d+)/.exec(answer)?.[1])

test('the request of the README’s first screen ends in a stream', async () => {
  const [request] = await blocks(
    'README.md',
    `curl -sS --fail-with-body -u "$KEY:" -H 'Content-Type: application/json' "$BASE/api/v0/job" -d`,
  )
  const status = await service.waitForEnd(idOf(await shell(request!)))
  expect(status).toMatchObject({ error: null, warnings: [] })
  const lists = status.outputs.filter(({ path }) => path.endsWith('.m3u8'))
  const texts = await Promise.all(lists.map(async ({ url }) => (await fetch(url!)).text()))
  expect(texts.filter((text) => /^#EXTM3U[\s\S]*#EXT-X-STREAM-INF/.test(text))).toHaveLength(1)
})

test.each(['docs/cli.md'])('the command of %s uploads, waits and downloads', async (page) => {
  const [command] = await blocks(page, 'export SPLICEPOINT_URL')
  const here = command!
    .replace(/SPLICEPOINT_URL=\S+/, `SPLICEPOINT_URL=${service.base}`)
    .replace(/SPLICEPOINT_KEY=\S+/, `SPLICEPOINT_KEY=${service.ready.api_key}`)
  expect(await shell(`rm -rf out\n${here}`)).toMatch(/^Job \d+ completed in .*: film\.mp4\n/)
  const outputs = (await shell('find out -type f')).trim().split('\n')
  // 720p would be larger than the source.
  expect(outputs).toEqual(['out/film_1_360p.mp4'])
  for (const path of outputs) {
    const { streams } = await probeFile(tempDir.file(path))
    expect(streams.map(({ codec_name }) => codec_name)).toEqual(['h264', 'aac'])
  }
})

test('the command of docs/cli.md that reads a job from a file', async () => {
  const [command] = await blocks('docs/cli.md', 'npx splicepoint submit --file')
  const [recipe] = await blocks('docs/recipes.md', '{')
  await writeFile(tempDir.file('job.json'), recipe!.replace('"http"', '"file-upload"'))
  const connection = `export SPLICEPOINT_URL=${service.base} SPLICEPOINT_KEY=${service.ready.api_key}`
  expect(await shell(`${connection}\n${command}`)).toMatch(/^Job \d+ completed in .*: film\.mp4\n/)
})

test('the one command of the README makes a page that has the film', async () => {
  const [command] = await blocks('README.md', 'npx splicepoint submit film.mp4 --hls --share')
  const connection = `export SPLICEPOINT_URL=${service.base} SPLICEPOINT_KEY=${service.ready.api_key}`
  const [page] = /^http\S+\/s\/\S+$/m.exec(await shell(`${connection}\n${command}`))!
  expect(await (await fetch(`${page}/data`)).json()).toMatchObject({ sources: [{ kind: 'hls' }] })
})

test('the command of docs/cli.md that joins several files', async () => {
  const [command] = await blocks('docs/cli.md', 'npx splicepoint submit bumper.mp4')
  const connection = `export SPLICEPOINT_URL=${service.base} SPLICEPOINT_KEY=${service.ready.api_key}`
  expect(await shell(`${connection}\n${command}`)).toMatch(/^Job \d+ dry run completed in .*: bumper\.mp4 \+ 2\n/)
})

test('the command of docs/cli.md that makes nothing but stills', async () => {
  const [command] = await blocks('docs/cli.md', 'npx splicepoint submit film.mp4 --no-video')
  const connection = `export SPLICEPOINT_URL=${service.base} SPLICEPOINT_KEY=${service.ready.api_key}`
  expect(await shell(`rm -rf images\n${connection}\n${command}`)).toMatch(/^Job \d+ completed in .*: film\.mp4\n/)
  const images = (await shell('find images -type f')).trim().split('\n').toSorted()
  expect(images).toHaveLength(3)
  expect(images.find((path) => path.endsWith('cover.jpg'))).toBeDefined()
  const sizes = await Promise.all(images.map(async (path) => (await probeFile(tempDir.file(path))).streams[0]!.width))
  expect(sizes.map(String).toSorted()).toEqual(['320', '320', '640'])
})

test('every recipe is accepted unchanged, and planned where its source is available', async () => {
  const [send] = await blocks('docs/recipes.md', 'curl')
  const recipes = await blocks('docs/recipes.md', '{')
  expect(recipes.length).toBeGreaterThan(7)
  for (const recipe of recipes) {
    await writeFile(tempDir.file('job.json'), recipe)
    const answer = await shell(send!.replace('/api/v0/job', '/api/v0/job?dry_run=true'))
    expect(JSON.parse(answer)).toMatchObject({ dry_run: true, warnings: [] })
    const id = idOf(answer)
    // The store's keys are examples.
    if (recipe.includes('s3://')) await service.call(`/api/v0/job/${id}/cancel`, { method: 'POST' })
    else expect(await service.waitForEnd(id), recipe).toMatchObject({ error: null, estimate: { version: 1 } })
  }
})

test('the upload of docs/uploads.md by tus-js-client stores the file', async () => {
  const [code] = await blocks('docs/uploads.md', 'new Upload')
  const content = await readFile(tempDir.file('film.mp4'))
  const file = Object.assign(content, { name: 'by-tus.mp4', type: 'video/mp4' })
  // oxlint-disable-next-line typescript/no-implied-eval -- the page's own words, with what a reader has
  new Function('Upload', 'BASE', 'KEY', 'file', code!)(Upload, service.base, service.ready.api_key, file)
  const stored = await waitFor('the upload', async () => {
    const { uploads } = (await (await service.call('/uploads?state=ready')).json()) as {
      uploads: { name: string; size: number; uploaded_file_number: number }[]
    }
    return uploads.find(({ name }) => name === 'by-tus.mp4')
  })
  const back = await service.call(`/uploads/${stored.uploaded_file_number}`)
  expect(Buffer.from(await back.arrayBuffer()).equals(content)).toBe(true)
})
