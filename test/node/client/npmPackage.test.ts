// In charge of: the npm packages of the command and of the client: built, installed into an empty directory without a
// registry, run by the oldest supported Node if it is installed, imported, required and bundled, and its types
// compiled.
// Not in charge of: what the command does (node/service/cli/commands.test.ts), the client in a browser
// (node/service/api/publishedClient.long.test.ts).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { publint } from 'publint'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobRead } from '../../../scripts/openapi/examples.ts'
import { tempDirectory } from '../../support/media/media.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)
const CONTENT = 'the bytes of a film'

/** The system's Node if it is 20 or newer: an older Node than that of the tests proves more. */
async function oldestNode(): Promise<string> {
  const version = await run('/usr/bin/node', ['--version']).then(
    ({ stdout }) => stdout,
    () => '',
  )
  return Number(/^v(\d+)\./.exec(version)?.[1] ?? 0) >= 20 ? '/usr/bin/node' : process.execPath
}

let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let server: Server
let base: string
let node: string
beforeAll(async () => {
  tempDir = await tempDirectory()
  node = await oldestNode()
  server = createServer((request, response) => {
    if (request.url === '/film') return response.end(CONTENT)
    const sha256 = createHash('sha256').update(CONTENT).digest('hex')
    const output = { ...jobRead.status.outputs[0]!, url: `${base}/film`, size: CONTENT.length, sha256 }
    return response.end(JSON.stringify({ ...jobRead, status: { ...jobRead.status, outputs: [output] } }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/package.ts'), tempDir.path])
  await mkdir(tempDir.file('empty'))
  await writeFile(tempDir.file('empty/package.json'), '{"private": true, "type": "module"}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...stdout.trim().split('\n')], {
    cwd: tempDir.file('empty'),
  })
})
afterAll(async () => {
  server?.close()
  await tempDir?.[Symbol.asyncDispose]()
})

const env = () => ({ ...process.env, SPLICEPOINT_URL: base, SPLICEPOINT_KEY: 'key' })
const installed = (name: string, args: string[]) =>
  run(node, [tempDir.file(`empty/node_modules/.bin/${name}`), ...args], { cwd: tempDir.file('empty'), env: env() })

test('they bring nothing else', async () => {
  const lock = JSON.parse(await readFile(tempDir.file('empty/package-lock.json'), 'utf8')) as { packages: object }
  expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/@splicepoint/client', 'node_modules/splicepoint'])
})

test.each(['splicepoint', 'transcode'])('%s runs', async (name) => {
  expect((await installed(name, ['--help'])).stdout).toMatch(/^Usage: splicepoint COMMAND[\s\S]*Exit codes: 0 done/)
  await installed(name, ['download', '1', '--to', name])
  expect(await readFile(tempDir.file(`empty/${name}/film-180.mp4`), 'utf8')).toBe(CONTENT)
  await expect(installed(name, ['submit'])).rejects.toMatchObject({ code: 2 })
})

test.each(['splicepoint', '@splicepoint/client'])(
  '%s can be published, and publint finds nothing wrong',
  async (name) => {
    const pkgDir = tempDir.file(`empty/node_modules/${name}`)
    const manifest = JSON.parse(await readFile(join(pkgDir, 'package.json'), 'utf8')) as Record<string, unknown>
    expect(manifest['private']).toBeUndefined()
    for (const member of ['dependencies', 'peerDependencies', 'optionalDependencies', 'scripts']) {
      expect(manifest[member], member).toBeUndefined()
    }
    const { messages } = await publint({ pkgDir, level: 'suggestion', strict: true, pack: false })
    expect(messages).toEqual([])
  },
)

test('--version is the package’s', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect((await installed('splicepoint', ['--version'])).stdout).toBe(`${version}\n`)
})

/**
 * Compiles in the directory where the package is installed, with every strict option, including the package's own
 * types.
 */
async function compile(name: string, text: string, options: string[]): Promise<string> {
  await writeFile(tempDir.file(`empty/${name}`), text)
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const strict = ['--ignoreConfig', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--skipLibCheck', 'false', '--pretty', 'false']
  return run(process.execPath, [compiler, ...strict, ...types, ...options, name], { cwd: tempDir.file('empty') }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
}

const forNode = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023', '--types', 'node']
const forPages = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022', '--noEmit']
const dom = ['--lib', 'es2022,dom,dom.iterable', '--types', '']

const program = `import { Client, ServiceError, type JobRequest } from '@splicepoint/client'
const job = await new Client(process.env['SPLICEPOINT_URL'] ?? '', 'key').follow(1)
const phase: 'done' | 'queued' | 'starting' | 'probing' | 'sampling' | 'transcoding' | 'packaging' | 'uploading' | 'committing' = job.status.phase
// @ts-expect-error -- a state is one of four words
if (job.status.state === 'nonsense') throw new ServiceError(400, '')
const request: JobRequest = { input: 'x', audioProfiles: [], cloud_credentials: { input: { cloud_provider: 'http' } } }
// @ts-expect-error -- there is no such container
request.output_container = 'avi'
// @ts-expect-error -- a member that is written wrong is not one
request.videoProfile = []
const height: number | undefined = job.config.videoProfiles[0]?.height
// @ts-expect-error -- it is not any
height satisfies string
export const text = [phase, job.status.outputs[0]?.path].join(' ')
console.log(text)
`

test('its types need no other package: ESM in Node, strict, without skipLibCheck', async () => {
  expect(await compile('program.ts', program, forNode)).toBe('')
  const { stdout } = await run(node, ['program.js'], { cwd: tempDir.file('empty'), env: env() })
  expect(stdout).toBe('done film-180.mp4\n')
})

test('the same for CommonJS, which requires it', async () => {
  const common = program.replace(/^const job = await (.*)$/m, 'async function main() { const job = await $1')
  expect(await compile('program.cts', `${common.replace('export const', 'const')}}\nvoid main()\n`, forNode)).toBe('')
  const { stdout } = await run(node, ['program.cjs'], { cwd: tempDir.file('empty'), env: env() })
  expect(stdout).toBe('done film-180.mp4\n')
})

const page = `import { Client } from '@splicepoint/client/browser'
export const send = (token: string, file: File) => new Client('https://x.test', { token }).upload(file)
// @ts-expect-error -- a page has no paths
export const path = () => new Client('https://x.test', 'key').upload('film.mp4')
`

test('the same for pages, without the types of Node', async () => {
  expect(await compile('page.ts', page, [...forPages, ...dom])).toBe('')
  expect(
    await compile('page.ts', page.replace('/browser', ''), [...forPages, ...dom, '--customConditions', 'browser']),
  ).toBe('')
})

test.each(['@splicepoint/client', '@splicepoint/client/browser'])(
  '%s bundles for a page without anything of Node',
  async (name) => {
    const { outputFiles } = await build({
      stdin: { contents: `export { Client, follow } from '${name}'`, resolveDir: tempDir.file('empty') },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      logLevel: 'silent',
    })
    const { text, contents } = outputFiles[0]!
    expect(text).not.toMatch(/["']node:|\bBuffer\b|\bprocess\b/)
    expect(contents.length).toBeLessThan(16_000)
  },
)

test('every program of the client’s README compiles', async () => {
  const readme = await readFile(tempDir.file('empty/node_modules/@splicepoint/client/README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)
  expect(blocks).toHaveLength(4)
  for (const [index, block] of blocks.entries()) {
    const options = block.includes('@splicepoint/client/browser') ? [...forPages, ...dom] : forNode
    expect(await compile(`readme-${index}.ts`, block, options), block).toBe('')
  }
})
