import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import { onPath } from '../../../transcoder/ffmpeg/confine.ts'
import { makeClip, probeFile, workspace } from '../media.ts'
import { ROOT, Service } from './service.ts'

let service: Service
let space: Awaited<ReturnType<typeof workspace>>
let readme: string
beforeAll(async () => {
  space = await workspace()
  readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  await makeClip(space.file('film.mp4'), { width: 640, height: 360, seconds: 3, audio: [2] })
  service = await Service.start()
})
afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await space?.[Symbol.asyncDispose]()
})

/** The fenced blocks of one language below a heading, as they stand. */
function blocks(heading: string, language: string): string[] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^```(\S+)\n([\s\S]*?)^```$/gm)].flatMap(([, kind, text]) =>
    kind === language ? [text!] : [],
  )
}

async function run(context: TestContext, program: string, args: string[]): Promise<string> {
  if (!program.startsWith('/') && (await onPath(program)) === null) {
    if (process.env['REQUIRE_ALL'] === '1') throw new Error(`${program} is not installed`)
    context.skip(`${program} is not installed`)
  }
  const env = { ...process.env, BASE: service.base, KEY: service.ready.api_key }
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: space.path, env }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stderr}`))
      else resolve(stdout)
    })
  })
}

test('the first job of the README, command by command, ends in files that play', async (context) => {
  const commands = blocks('Your first job', 'sh')
  expect(commands).toHaveLength(3)
  const [uploaded, created, addresses] = [
    await run(context, 'curl', ['--version']).then(() => run(context, 'bash', ['-euc', commands[0]!])),
    await run(context, 'bash', ['-euc', commands[1]!]),
    await run(context, 'bash', ['-euc', commands[2]!]),
  ]
  expect(JSON.parse(uploaded)).toMatchObject({ uploaded_file_number: 1 })
  expect(JSON.parse(created)).toMatchObject({ _auto_generated_id_: 1, warnings: [] })
  const urls = [...addresses.matchAll(/"url":"([^"]+)"/g)].map((match) => match[1]!)
  expect(urls).toHaveLength(2)
  for (const [index, height] of [720, 360].entries()) {
    await writeFile(space.file('got.mp4'), Buffer.from(await (await fetch(urls[index]!)).arrayBuffer()))
    const { streams } = await probeFile(space.file('got.mp4'))
    expect(streams.map((stream) => stream.codec_name)).toEqual(['h264', 'aac'])
    expect(streams[0]!.height).toBe(height)
  }
})

test('the polling loop of the README works with the standard library of Python', async (context) => {
  const [program] = blocks('Your first job', 'python')
  const output = await run(context, 'python3', ['-c', program!])
  expect(output).toMatch(/done 100 % 100 %/)
  expect(output).toContain(`${service.base}/o/`)
})

test('the README’s way to send large files stores the file', async (context) => {
  const [commands] = blocks('Large files', 'sh')
  const output = await run(context, 'bash', ['-euc', `${commands!}echo "at $AT"`])
  const { length } = await readFile(space.file('film.mp4'))
  expect(output.toLowerCase()).toContain(`upload-offset: ${length}`)
  const address = /^at (.+)$/m.exec(output)![1]!
  const stored = await service.call(new URL(address).pathname)
  expect(Buffer.from(await stored.arrayBuffer()).equals(await readFile(space.file('film.mp4')))).toBe(true)
})

test('the dry run of the README tells what it would take', async (context) => {
  const [ask, read] = blocks('Ask before you run', 'sh')
  expect(JSON.parse(await run(context, 'bash', ['-euc', ask!]))).toMatchObject({ dry_run: true, warnings: [] })
  const answer = await run(context, 'bash', ['-euc', read!])
  expect(answer).toContain('1280 × 720, samples 1:1, 25 frames per second, progressive.')
  expect(answer).toContain('"cost_usd":{"low":')
})

test('the parameter reference is what the schema says', async (context) => {
  await run(context, process.execPath, [join(ROOT, 'scripts/reference.ts'), '--check'])
})

test('every file that the README names is there', async () => {
  const named = [...readme.matchAll(/`((?:worker|transcoder|scripts|migrations)\/[\w./-]*)`/g)].map(
    (match) => match[1]!,
  )
  expect(named.length).toBeGreaterThan(20)
  for (const path of named)
    await expect(
      readFile(join(ROOT, path)).catch((error) => error.code),
      path,
    ).resolves.not.toBe('ENOENT')
})
