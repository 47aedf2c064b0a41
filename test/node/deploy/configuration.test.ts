// The deployment files, as far as they can be checked by reading: rules for the Dockerfile and wrangler.toml.
// test/node/deploy/image.test.ts builds and runs the image.
import { access, glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { VERSION } from '#contract/version.ts'
import { HARD_EXIT_MS } from '../../../transcoder/server/drain.ts'
import { CONTAINER_PORT } from '../../../worker/scheduler/containerInstance.ts'
import { ROOT } from '../../../scripts/local/localSettings.ts'

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

it('takes base images from build arguments in every stage, pinned to a release with the same default', () => {
  expect(instructions[0]).toMatch(/^ARG BASE=[\w./-]+:(?!latest)[\w.-]+$/)
  expect(instructions[1]).toBe('ARG BUILD_BASE=${BASE}')
  expect(instructions.filter((line) => line.startsWith('FROM '))).toEqual([
    'FROM ${BUILD_BASE} AS packages',
    'FROM ${BASE}',
  ])
})

it('installs without recommendations, after an update in the same layer, and leaves no lists behind', () => {
  for (const line of instructions.filter((each) => each.includes('apt-get install')))
    expect(line).toMatch(/^RUN apt-get update && apt-get install -y --no-install-recommends /)
  for (const line of last.filter((each) => each.includes('apt-get install')))
    expect(line).toMatch(/&& rm -rf \/var\/lib\/apt\/lists\/\* /)
})

it('runs as a user without rights, with a PID 1 that reaps, in exec form', () => {
  const user = last.findIndex((line) => line.startsWith('USER '))
  expect(last[user]).not.toMatch(/root|\b0\b/)
  expect(user).toBeGreaterThan(last.findLastIndex((line) => /^(RUN|COPY) /.test(line)))
  expect(last).toContain('ENTRYPOINT ["/usr/bin/tini", "--"]')
  expect(last.filter((line) => line.startsWith('CMD '))).toEqual([expect.stringMatching(/^CMD \["\//)])
})

it('changes from the bottom up: packages of the system, the user, Node, packages of npm, sources', () => {
  const order = last.filter((line) => /^(RUN|COPY) /.test(line)).map((line) => line.split(' ').slice(0, 3).join(' '))
  expect(order).toEqual([
    'RUN apt-get update',
    'RUN groupadd --system',
    'COPY --from=packages /usr/local/bin/node',
    'COPY package.json ./',
    'COPY --from=packages /app/node_modules/zod',
    'COPY --from=packages /app/node_modules/saxes',
    'COPY --from=packages /app/node_modules/xmlchars',
    'COPY contract ./contract',
    'COPY transcoder ./transcoder',
    // Facts about all of the above are determined once, at build time.
    'RUN install -d',
  ])
})

it('copies every package that the transcoder imports, and no other', async () => {
  const imported = new Set<string>()
  for await (const path of glob(['transcoder/**/*.ts', 'contract/**/*.ts'], { cwd: ROOT }))
    for (const [, name] of (await readFile(join(ROOT, path), 'utf8')).matchAll(/ from '([^.#'][^']*)'/g))
      if (!name!.startsWith('node:')) imported.add(name!.split('/')[0]!)
  const copied = instructions.flatMap((line) => /\/app\/node_modules\/(\S+)/.exec(line)?.slice(1, 2) ?? [])
  // What saxes imports itself.
  imported.add('xmlchars')
  expect(copied.toSorted()).toEqual([...imported].toSorted())
})

it('has no pipe whose failure would be overlooked, no sudo, no shell form of what is started', () => {
  expect(instructions.filter((line) => /^RUN .*[^|]\|[^|]|\bsudo\b|curl |wget /.test(line))).toEqual([])
  for (const line of instructions.filter((each) => /^(CMD|ENTRYPOINT|HEALTHCHECK) /.test(each)))
    expect(line).toMatch(/^(CMD|ENTRYPOINT|HEALTHCHECK .* CMD) \["\//)
  expect(instructions.filter((line) => /^(STOPSIGNAL|SHELL|VOLUME|ONBUILD|MAINTAINER) /.test(line))).toEqual([])
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

it('listens where the Worker expects it', () => {
  expect(last).toContain(`EXPOSE ${CONTAINER_PORT}`)
  expect(text).toMatch(new RegExp(`\\bPORT=${CONTAINER_PORT}\\b`))
})

it('is what wrangler.toml deploys, as often as the Worker uses it, and stops in time', async () => {
  const wrangler = await readFile(join(ROOT, 'wrangler.toml'), 'utf8')
  const value = (name: string) => new RegExp(`^${name} = "?([^"\\n]*)"?`, 'm').exec(wrangler)?.[1]
  expect(value('image')).toBe('./transcoder/Dockerfile')
  expect(value('image_build_context')).toBe('.')
  expect(value('max_instances')).toBe(value('MAX_SLOTS'))
  // Estimates of dry runs use the prices of this machine (transcoder/plan/estimate/costConstants.ts): 12 GiB and 20 GB.
  expect(value('instance_type')).toBe('standard-4')
  expect(Number(value('rollout_active_grace_period'))).toBeGreaterThan(0)
  const drainSeconds = /^ +DRAIN_SECONDS=(\d+)/m.exec(text)![1]!
  // Cloudflare sends SIGKILL 15 minutes after SIGTERM.
  expect(Number(drainSeconds) * 1000 + HARD_EXIT_MS).toBeLessThan(15 * 60_000 - 10_000)
})

it('has one version: that of package.json', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  expect(VERSION).toBe(version)
})
