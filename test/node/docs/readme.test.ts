import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test, type TestContext } from 'vitest'
import { findOnPath } from '../../../transcoder/ffmpeg/sandbox.ts'
import { fileResources } from '../../support/fileResources.ts'
import { skipTest } from '../../support/requirement.ts'
import { runProgram } from '../../support/runProgram.ts'
import { makeClip, tempDirectory } from '../../support/media/media.ts'
import { ROOT, Service } from '../../support/service.ts'
import { WebSite } from '../../support/http/webSite.ts'

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let readme: string
let site: WebSite
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  await makeClip(tempDir.file('film.mp4'), { width: 640, height: 360, seconds: 3, audio: [2] })
  site = resources.use(await WebSite.start())
  site.files.set('/2010/05/sintel/trailer.mp4', await readFile(tempDir.file('film.mp4')))
  service = resources.use(await Service.start({ ALLOW_PRIVATE_HOSTS: site.host }))
})

/** Replaces the address of the W3C's video by the loopback address. */
const local = (text: string): string => text.replaceAll('https://media.w3.org', site.url)

/** The fenced blocks of one language below a heading, unchanged. */
function blocks(heading: string, language: string): string[] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm)].flatMap(([, kind, text]) =>
    kind === language ? [text!] : [],
  )
}

async function attempt(context: TestContext, program: string, args: string[]) {
  // The commands wait for ever if they call what is not there.
  const needed = program === 'bash' ? 'curl' : program
  if (!needed.startsWith('/') && (await findOnPath(needed)) === null) skipTest(context, `${needed} is not installed`)
  const env = { BASE: service.base, KEY: service.ready.api_key }
  return runProgram(program, args, { cwd: tempDir.path, env })
}

async function run(context: TestContext, program: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await attempt(context, program, args)
  expect(code, stderr).toBe(0)
  return stdout
}

const steps = (): string[] => blocks('From your file to a link', 'sh').filter((text) => !text.startsWith('npx'))

test('the README’s way from a file to a link, command by command, ends in a page that plays without a key', async (context) => {
  const commands = steps()
  expect(commands).toHaveLength(4)
  const output = await run(context, 'bash', ['-euc', `${commands.join('\n')}\necho; echo "job $JOB of file $FILE"`])
  const [, job] = /^job (\d+) of file 1$/m.exec(output)!
  const urls = [...output.matchAll(/"url":"([^"]+\.m3u8)"/g)].map((match) => match[1]!)
  expect(urls.length).toBeGreaterThan(1)
  const { status } = (await (await service.call(`/api/v0/job/${job}`)).json()) as { status: { error: unknown } }
  expect(status.error).toBeNull()
  const share = JSON.parse(await readFile(tempDir.file('share.json'), 'utf8')) as { url: string }
  const media = (await (await fetch(`${share.url}/data`)).json()) as { sources: { kind: string }[] }
  expect(media.sources.map(({ kind }) => kind)).toContain('hls')
})

test.for([
  ['a value that is refused', '"hls"', '"webm"', 'invalid_request', 'output_container must be one of', 'JOB'],
  ['a wrong key', '"$KEY:"', '"$KEY.:"', 'unauthorized', 'This API key is unknown', 'FILE'],
  ['a file that is no video', '@film.mp4', '@README.md', 'source_not_media', 'Check that the address leads to', null],
] as const)(
  'with %s, the commands show the error, and end',
  async ([, text, mistake, code, sentence, stopped], context) => {
    await writeFile(tempDir.file('README.md'), readme)
    const commands = steps().join('\n').replaceAll(text, mistake)
    const { stdout, stderr } = await attempt(context, 'bash', ['-c', commands])
    expect(stdout).toContain(`"code":"${code}"`)
    expect(stdout).toContain(sentence)
    expect(stdout).not.toContain('"url":"')
    if (stopped !== null) expect(stderr).toContain(`${stopped}: parameter null or not set\n`)
  },
)

test.for([
  ['a value that is refused', '"mp4"', '"webm"', 'invalid_request'],
  ['a source that is not there', 'trailer.mp4', 'missing.mp4', 'source_not_found'],
] as const)('with %s, the Python program ends with the error', async ([, text, mistake, code], context) => {
  const [program] = blocks('In Python', 'python')
  const ended = await attempt(context, 'python3', ['-c', local(program!).replace(text, mistake)])
  expect(ended.code).toBe(1)
  expect(ended.stderr).toContain(code)
  expect(ended.stderr).toContain('"advice":')
  expect(ended.stderr).not.toContain('Traceback')
})

test('the Python program of the README works with the standard library alone', async (context) => {
  const [program] = blocks('In Python', 'python')
  const output = await run(context, 'python3', ['-c', local(program!)])
  expect(output).toMatch(/^done 100 %$/m)
  expect(output).toContain(`${service.base}/o/`)
})

test('the parameter reference is what the schema says', async (context) => {
  await run(context, process.execPath, [join(ROOT, 'scripts/generateReference.ts'), '--check'])
})

test('every file that the map of the code names is there', async () => {
  const map = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  const named = [...map.matchAll(/`((?:worker|transcoder|scripts|migrations|web|client|cli|matrix)\/[\w./-]*)`/g)].map(
    (match) => match[1]!,
  )
  expect(named.length).toBeGreaterThan(20)
  // The recipes call what a contributor adds NAME.
  for (const path of named.filter((each) => !each.includes('NAME')))
    await expect(
      readFile(join(ROOT, path)).catch((error) => error.code),
      path,
    ).resolves.not.toBe('ENOENT')
})
