// In charge of: the first step of every npm script: node_modules is compared with the lockfile, without the registry if
// it matches.
// Not in charge of: an installation from the registry (nodeModules.long.test.ts).
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { comparePackages, findMissingPackages, type Entry } from '../../../scripts/npm/missingPackages.mjs'
import { tempDirectory } from '../../support/media/media.ts'
import { ROOT } from '../../support/service.ts'

const toClose: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0).toReversed()) await close()
})

async function tempDir(): Promise<{ path: string; file: (name: string) => string }> {
  const made = await tempDirectory()
  toClose.push(() => made[Symbol.asyncDispose]())
  return made
}

/** A registry that refuses every connection; counts the attempts. */
async function registry(): Promise<{ address: string; tries: () => number }> {
  let tries = 0
  const server = createServer((socket) => {
    tries++
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  toClose.push(() => new Promise((done) => server.close(done)))
  const at = server.address()
  return { address: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}/`, tries: () => tries }
}

interface Ran {
  code: number | null
  stdout: string
  stderr: string
}

function npm(args: string[], cwd: string, env: Record<string, string>): Promise<Ran> {
  return new Promise((resolve) => {
    execFile('npm', args, { cwd, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

/** What a clone contains that is needed to install. */
async function clone(): Promise<{ path: string; file: (name: string) => string }> {
  const made = await tempDir()
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'scripts'])
    await cp(join(ROOT, name), made.file(name), { recursive: true })
  return made
}

interface Lock {
  packages: Record<string, Entry & { resolved?: string; optionalDependencies?: Record<string, string> }>
}
const lock = async (): Promise<Lock> => JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock

const linux = { os: 'linux', cpu: 'x64', libc: () => 'glibc' }

describe('what is lacking', () => {
  test.each<[string, Record<string, Entry>, Record<string, Entry>, string[]]>([
    ['nothing', { a: { version: '1' } }, { a: { version: '1' } }, []],
    ['a package', { a: { version: '1' }, b: { version: '1' } }, { a: { version: '1' } }, ['b']],
    ['another version', { a: { version: '2' } }, { a: { version: '1' } }, ['a']],
    ['other bytes', { a: { version: '1', integrity: 'x' } }, { a: { version: '1', integrity: 'y' } }, ['a']],
    ['the project itself is no package', { '': { version: '2' } }, {}, []],
    ['what is there beside it does no harm', {}, { a: { version: '1' } }, []],
    ['another system’s', { a: { version: '1', optional: true, os: ['darwin'] } }, {}, []],
    ['another processor’s', { a: { version: '1', optional: true, os: ['linux'], cpu: ['arm64'] } }, {}, []],
    ['another C library’s', { a: { version: '1', optional: true, os: ['linux'], libc: ['musl'] } }, {}, []],
    ['every system’s but one', { a: { version: '1', optional: true, os: ['!linux'] } }, {}, []],
    ['ours', { a: { version: '1', optional: true, os: ['linux'], cpu: ['x64'], libc: ['glibc'] } }, {}, ['a']],
    ['all but another', { a: { version: '1', optional: true, os: ['!win32'] } }, {}, ['a']],
    ['an optional one of no system', { a: { version: '1', optional: true } }, {}, []],
  ])('%s', (_name, wanted, installed, expected) => {
    expect(comparePackages(wanted, installed, linux)).toEqual(expected)
  })

  test('nothing is, where these tests run', () => {
    expect(findMissingPackages(ROOT, false)).toEqual([])
  })

  test('everything is in a fresh clone', async () => {
    expect(findMissingPackages((await clone()).path, false)).toEqual(['node_modules'])
  })
})

describe('the lockfile', () => {
  test('has an entry for every optional package of every platform, and names no registry', async () => {
    const { packages } = await lock()
    const named = Object.values(packages).flatMap((one) => Object.keys(one.optionalDependencies ?? {}))
    const there = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)))
    expect(named.length).toBeGreaterThan(100)
    expect(named.filter((name) => !there.has(name))).toEqual([])
    expect(Object.keys(packages).filter((path) => packages[path]?.resolved !== undefined)).toEqual([])
  })

  test('knows the bytes of every package of every platform', async () => {
    const packages = Object.entries((await lock()).packages).filter(([path]) => path !== '')
    expect(packages.length).toBeGreaterThan(400)
    expect(packages.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)).toEqual([])
  })

  test('is all that npm ci needs, and fits package.json', async () => {
    const made = await clone()
    const ran = await npm(['ci', '--dry-run', '--offline', '--ignore-scripts', '--loglevel=error'], made.path, {
      npm_config_cache: made.file('cache'),
    })
    expect(ran.stderr).not.toContain('EUSAGE')
    expect(ran.code).toBe(0)
  })
})

describe('npm start', () => {
  test('asks no registry when node_modules fits, starts, and prints each step', async () => {
    const [state, { address, tries }] = [await tempDir(), await registry()]
    const env = { ...process.env, npm_config_registry: address, PORT: '0', STATE_DIR: state.path, INIT_CWD: ROOT }
    const child = spawn('npm', ['start', '--silent'], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const exited = once(child, 'exit')
    let [shown, steps] = ['', '']
    child.stderr.on('data', (chunk: Buffer) => (steps += chunk.toString()))
    for await (const chunk of child.stdout) {
      shown += String(chunk)
      if (shown.includes('Press Ctrl-C to stop.')) break
    }
    const base = /^Splicepoint is running at (\S+)$/m.exec(shown)?.[1] ?? ''
    expect((await fetch(`${base}/health`)).status).toBe(200)
    const adminKey = /^Admin key +(\S+)/m.exec(shown)?.[1] ?? ''
    const authorization = `Basic ${Buffer.from(`${adminKey}:`).toString('base64')}`
    expect((await fetch(`${base}/metrics`, { headers: { authorization } })).status).toBe(200)
    for (const step of ['ffmpeg ', 'transcoders: http://', `database: ${state.path}`, `Worker: ${base}`])
      expect(steps).toMatch(new RegExp(String.raw`^ +\d+\.\d s {2}${step}`, 'm'))
    child.kill('SIGTERM')
    await exited
    expect(tries()).toBe(0)
  })

  test('says what it needs and where it cannot get it, without a registry', async () => {
    const made = await clone()
    const { address } = await registry()
    // The port is closed now.
    for (const close of toClose.splice(1)) await close()
    const ran = await npm(['start', '--silent'], made.path, {
      npm_config_registry: address,
      npm_config_cache: made.file('cache'),
    })
    expect(ran.stderr).toContain('Installing the packages of package-lock.json …')
    expect(ran.stderr).toContain(`the registry ${new URL(address).host} cannot be reached`)
    expect(ran.stderr).toContain('and start again.')
    expect([ran.code, ran.stdout]).toEqual([1, ''])
  })

  test('names what differs, and what interrupted the download', async () => {
    const made = await clone()
    await symlink(join(ROOT, 'node_modules'), made.file('node_modules'))
    const changed = await lock()
    changed.packages['node_modules/absent'] = { version: '1.0.0' }
    await writeFile(made.file('package-lock.json'), JSON.stringify(changed))
    expect(findMissingPackages(made.path, false)).toEqual(['node_modules/absent'])
  })
})
