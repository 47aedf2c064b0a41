// In charge of: `npm start` in a clone without node_modules, with the registry that npm is configured for.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { findMissingPackages } from '../../../scripts/npm/missingPackages.mjs'
import { tempDirectory } from '../../support/media/media.ts'
import { ROOT, type ReadyLine } from '../../support/service.ts'

test('a clone is installed by npm start from the registry and is as clean as before; so it is after it served', async (context) => {
  const from = await new Promise<string>((resolve) =>
    execFile('npm', ['config', 'get', 'registry'], (_error, stdout) => resolve(stdout.trim())),
  )
  const reached = await fetch(from, { method: 'HEAD', signal: AbortSignal.timeout(10_000) }).then(
    () => true,
    () => false,
  )
  if (!reached) {
    if (process.env['REQUIRE_ALL'] === '1') throw new Error(`the registry ${from} cannot be reached`)
    context.skip(`the registry ${from} cannot be reached`)
  }
  await using made = await tempDirectory()
  const git = (...args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile('git', args, { cwd: made.path, maxBuffer: 2 ** 26 }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      )
    })
  await cp(ROOT, made.path, {
    recursive: true,
    filter: (path) => !/\/(?:node_modules|\.git|\.wrangler|\.tsbuild|dist|out)$/.test(path),
  })
  await git('init', '-q')
  await git('add', '-A')
  await git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'all')
  const env = { ...process.env, PORT: '0', INIT_CWD: made.path, STATE_DIR: '' }
  const child = spawn('npm', ['start', '--silent', '--', '--json'], {
    cwd: made.path,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const first = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>
  const line = await Promise.race([first.then(([text]) => text), exited.then(() => null)])
  if (line === null) throw new Error(`it did not start:\n${output}`)
  const ready = JSON.parse(line) as ReadyLine
  expect((await fetch(`${ready.base_url}/health`)).status).toBe(200)
  process.kill(ready.pids.start, 'SIGTERM')
  await exited
  expect(output).toMatch(/^Installing the packages of package-lock\.json …$/m)
  expect(output).toMatch(/^Installed in \d+ s\.$/m)
  expect(findMissingPackages(made.path, true)).toEqual([])
  const installed = await readFile(made.file('node_modules/.package-lock.json'), 'utf8')
  // Without the packages of development.
  expect(Object.keys((JSON.parse(installed) as { packages: object }).packages).length).toBeLessThanOrEqual(80)
  expect(await git('status', '--porcelain')).toBe('')
})
