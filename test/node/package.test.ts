// In charge of: the package of the command: made, installed into an empty directory without a registry, run by the oldest Node
// that it names where that is here, and its types compiled against.
// Not in charge of: what the command does (service/cli.test.ts).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobRead } from '../../scripts/openapi/examples.ts'
import { workspace } from './media.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const CONTENT = 'the bytes of a film'

/** The system's Node where it is 20 or newer: an older one than the tests run under says more. */
async function oldestNode(): Promise<string> {
  const version = await run('/usr/bin/node', ['--version']).then(
    ({ stdout }) => stdout,
    () => '',
  )
  return Number(/^v(\d+)\./.exec(version)?.[1] ?? 0) >= 20 ? '/usr/bin/node' : process.execPath
}

let space: Awaited<ReturnType<typeof workspace>>
let server: Server
let base: string
let node: string
beforeAll(async () => {
  space = await workspace()
  node = await oldestNode()
  server = createServer((request, response) => {
    if (request.url === '/film') return response.end(CONTENT)
    const sha256 = createHash('sha256').update(CONTENT).digest('hex')
    const output = { ...jobRead.status.outputs[0]!, url: `${base}/film`, size: CONTENT.length, sha256 }
    return response.end(JSON.stringify({ ...jobRead, status: { ...jobRead.status, outputs: [output] } }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await run(process.execPath, [join(ROOT, 'scripts/package.ts'), space.path])
  await mkdir(space.file('empty'))
  await writeFile(space.file('empty/package.json'), '{"private": true, "type": "module"}')
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', space.file(`splicepoint-${version}.tgz`)], {
    cwd: space.file('empty'),
  })
})
afterAll(async () => {
  server?.close()
  await space?.[Symbol.asyncDispose]()
})

const env = () => ({ ...process.env, SPLICEPOINT_URL: base, SPLICEPOINT_KEY: 'key' })
const installed = (name: string, args: string[]) =>
  run(node, [space.file(`empty/node_modules/.bin/${name}`), ...args], { cwd: space.file('empty'), env: env() })

test('it brings nothing else, and is small', async () => {
  const lock = JSON.parse(await readFile(space.file('empty/package-lock.json'), 'utf8')) as { packages: object }
  expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/splicepoint'])
})

test.each(['splicepoint', 'transcode'])('%s runs', async (name) => {
  expect((await installed(name, ['--help'])).stdout).toMatch(/^Usage: splicepoint COMMAND[\s\S]*Exit codes: 0 done/)
  await installed(name, ['download', '1', '--to', name])
  expect(await readFile(space.file(`empty/${name}/film-180.mp4`), 'utf8')).toBe(CONTENT)
  await expect(installed(name, ['submit'])).rejects.toMatchObject({ code: 2 })
})

test('its client is for programs, with types', async () => {
  const program = `import { Client, ServiceError } from 'splicepoint'
const job = await new Client(process.env['SPLICEPOINT_URL'] ?? '', 'key').read(1)
const phase: 'done' | 'queued' | 'starting' | 'probing' | 'transcoding' | 'packaging' | 'uploading' | 'committing' = job.status.phase
// @ts-expect-error -- a state is one of four words
if (job.status.state === 'nonsense') throw new ServiceError(400, '')
console.log(phase, job.status.outputs[0]?.path)
`
  await writeFile(space.file('empty/program.ts'), program)
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const options = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023']
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
  await run(process.execPath, [compiler, ...options, ...types, 'program.ts'], { cwd: space.file('empty') })
  const { stdout } = await run(node, ['program.js'], { cwd: space.file('empty'), env: env() })
  expect(stdout).toBe('done film-180.mp4\n')
})
