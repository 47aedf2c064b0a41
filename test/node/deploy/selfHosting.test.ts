// In charge of: deploy/self-hosting, judged by the programs that read these files, and its examples of settings.
// Not in charge of: the commands of docs/self-hosting.md (../service/hosts/selfHosting.long.test.ts).
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { skipTest } from '../../support/requirement.ts'
import { runProgram } from '../../support/runProgram.ts'
import { ROOT } from '../../support/service.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'
import { missingPrograms } from '../validators/installedPrograms.ts'

const DIRECTORY = join(ROOT, 'deploy/self-hosting')
const UNITS = ['splicepoint.service', 'splicepoint-transcoder@.service']
const temp = useTempDirectory()
const read = (name: string): Promise<string> => readFile(join(DIRECTORY, name), 'utf8')

/** The settings of an example, also those that are commented out. */
const namesIn = (text: string): string[] => [...text.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name!)

test('Compose accepts compose.yaml with the filled-in example', async (context) => {
  const missing = missingPrograms('docker-compose')
  if (missing !== null) skipTest(context, missing)
  const example = await read('compose.env.example')
  await cp(join(DIRECTORY, 'compose.yaml'), temp.file('compose.yaml'))
  const compose = (): ReturnType<typeof runProgram> =>
    runProgram('docker-compose', ['-f', temp.file('compose.yaml'), '--env-file', temp.file('.env'), 'config'])
  await writeFile(temp.file('.env'), example)
  // What must be filled in is asked for by name.
  expect((await compose()).stderr).toMatch(/set TRANSCODER_SECRET in \.env/)
  await writeFile(temp.file('.env'), example.replace('TRANSCODER_SECRET=', `TRANSCODER_SECRET=${'s'.repeat(64)}`))
  const { code, stdout, stderr } = await compose()
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toMatch(/BASE_URL: https:\/\/transcode\.example\.com/)
  for (const name of ['service', 'transcoder', 'caddy']) expect(stdout).toMatch(new RegExp(`^  ${name}:$`, 'm'))
})

test('each variable of compose.yaml is in its example or has a default', async () => {
  const text = await read('compose.yaml')
  const known = new Set(namesIn(await read('compose.env.example')))
  const used = [...text.matchAll(/\$\{([A-Z0-9_]+)([^}]*)\}/g)]
  expect(used.length).toBeGreaterThan(5)
  expect(used.filter(([, name, rest]) => !known.has(name!) && !/^:-.+/.test(rest!)).map(([whole]) => whole)).toEqual([])
})

test('Caddy accepts the Caddyfile', async (context) => {
  const missing = missingPrograms('caddy')
  if (missing !== null) skipTest(context, missing)
  const file = join(DIRECTORY, 'Caddyfile')
  const env = { HOME: temp.path, DOMAIN: 'video.example.org', UPSTREAM: 'service:8787' }
  expect(await runProgram('caddy', ['validate', '--adapter', 'caddyfile', '--config', file], { env })).toMatchObject({
    code: 0,
  })
  const { stdout } = await runProgram('caddy', ['adapt', '--config', file], { env })
  const routes = JSON.stringify(JSON.parse(stdout))
  expect(routes).toContain('"host":["video.example.org"]')
  expect(routes).toContain('"dial":"service:8787"')
})

test('systemd accepts the units', async (context) => {
  const missing = missingPrograms('systemd-analyze')
  if (missing !== null) skipTest(context, missing)
  for (const unit of UNITS) {
    // It checks that the program exists: here, and not in /opt.
    await writeFile(temp.file(unit), (await read(`systemd/${unit}`)).replaceAll('/opt/splicepoint', ROOT))
    const { code, stdout, stderr } = await runProgram('systemd-analyze', ['verify', '--man=no', temp.file(unit)])
    expect(stdout + stderr).toBe('')
    expect(code).toBe(0)
  }
})

test('the examples of settings name documented variables only', async () => {
  const pages = (
    await Promise.all(['operating.md', 'self-hosting.md'].map((name) => readFile(join(ROOT, 'docs', name), 'utf8')))
  ).join('')
  for (const name of ['systemd/service.env.example', 'systemd/transcoder.env.example'])
    for (const variable of namesIn(await read(name))) expect(pages).toContain(`\`${variable}\``)
})
