// In charge of: the OpenAPI document in other tools: linters report nothing, generated clients compile and work on a
// running service.
// Not in charge of: whether the document matches the service (openapi.test.ts).
import { existsSync } from 'node:fs'
import { cp, glob, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { openapi } from '../../../../scripts/openapi/openapiDocument.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { LONG_FORM } from '../../../support/longForm.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { skipSuite } from '../../../support/requirement.ts'
import { runProgram } from '../../../support/runProgram.ts'
import { ROOT, Service } from '../../../support/service.ts'

const TOOLS = join(ROOT, 'test/clients')
const MISSING =
  'the tools that check the OpenAPI document are not installed: npm ci --prefix test/clients; ' +
  'python3 -m venv test/clients/python; test/clients/python/bin/pip install -r test/clients/requirements.txt'
const installed = ['node_modules/.bin/orval', 'python/bin/openapi-python-client'].every((path) =>
  existsSync(join(TOOLS, path)),
)

let tempDir: Awaited<ReturnType<typeof tempDirectory>>

/** Runs a tool of test/clients in the workspace; returns its output, whatever its exit code. */
async function tool(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; printed: string; stdout: string }> {
  const bin = name.startsWith('python/') ? join(TOOLS, name) : join(TOOLS, 'node_modules/.bin', name)
  const { code, stdout, stderr } = await runProgram(bin, args, { cwd: tempDir.path, env })
  return { code, printed: stdout + stderr, stdout }
}

/** Compiles as a user would: strict, including the types of libraries. */
async function compiles(folder: string): Promise<void> {
  const files: string[] = []
  for await (const path of glob('**/*.ts', { cwd: tempDir.file(folder) })) files.push(tempDir.file(`${folder}/${path}`))
  expect(files).not.toEqual([])
  const flags = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--module', 'esnext']
  const where = ['--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable']
  const { code, printed } = await tool('tsc', [...flags, ...where, ...files])
  expect(printed).toBe('')
  expect(code).toBe(0)
}

const job = {
  videoProfiles: [{ output: 'film-90.mp4', width: 0, height: 90, video_bitrate: 150 }],
  audioProfiles: [{ audio_codec: 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1 }],
  cloud_credentials: { input: { cloud_provider: 'file-upload' } },
}

describe.skipIf(skipSuite(installed ? null : MISSING))(
  `tools of others (${installed ? 'test/clients' : MISSING})`,
  () => {
    let service: Service

    const resources = fileResources()
    beforeAll(async () => {
      tempDir = resources.use(await tempDirectory())
      await writeFile(tempDir.file('openapi.json'), JSON.stringify(openapi(), null, 2))
      await makeClip(tempDir.file('film.mp4'), { width: 160, height: 90, seconds: 1, audio: [2] })
      service = resources.use(await Service.start({}))
    })

    const spectral = async () => {
      const options = ['--ruleset', join(TOOLS, 'spectral.yaml'), '--fail-severity', 'hint', '--format', 'json']
      const { code, printed } = await tool('spectral', ['lint', ...options, '--output', 'found.json', 'openapi.json'])
      return { code, printed, found: JSON.parse(await readFile(tempDir.file('found.json'), 'utf8')) as unknown[] }
    }
    const redocly = async () => {
      const options = ['--config', join(TOOLS, 'redocly.yaml'), '--format', 'json']
      const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
      const { code, printed, stdout } = await tool('redocly', ['lint', ...options, 'openapi.json'], env)
      const { problems } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { problems: unknown[] }
      return { code, printed, found: problems }
    }
    // What redocly.yaml excepts has its reason there.
    test.each(Object.entries({ redocly, spectral }))('%s finds nothing in the document', async (_name, lint) => {
      const { code, printed, found } = await lint()
      expect(found, printed).toEqual([])
      expect(code, printed).toBe(0)
    })

    test('each operation has a name, a summary, a description and an example of what it answers', () => {
      const { paths } = openapi() as unknown as { paths: Record<string, Record<string, any>> }
      const all = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, one]) => ({ name: `${method} ${path}`, one })),
      )
      expect(all.length).toBeGreaterThanOrEqual(30)
      const ids = all.map(({ one }) => String(one.operationId))
      expect(new Set(ids).size).toBe(ids.length)
      for (const { name, one } of all) {
        expect(one.operationId, name).toMatch(/^[a-z][A-Za-z]+$/)
        expect(one.summary, name).toMatch(/^[A-Z][^.]{4,80}$/)
        expect(one.description, name).toMatch(/^[A-Z`].{30,}\.$/s)
        const answers = Object.entries<any>(one.responses).filter(([status]) => status.startsWith('2'))
        const json = answers.flatMap(([, each]) => each.content?.['application/json'] ?? [])
        for (const each of json) expect(each.example, `${name}: an example`).toBeDefined()
      }
    })

    // Of those for TypeScript, the short form takes the one whose client is also used.
    const others = {
      orval: ['--input', 'openapi.json', '--output', 'orval/client.ts', '--client', 'fetch'],
      'openapi-typescript': ['openapi.json', '-o', 'openapi-typescript/schema.ts'],
    }
    test.each(LONG_FORM ? Object.entries(others) : [])('%s makes code that compiles', async (name, options) => {
      const { code, printed } = await tool(name, options)
      expect(code, printed).toBe(0)
      await compiles(name)
    })

    test('hey-api makes a client that compiles, and that works', async () => {
      const plugins = ['-p', '@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch']
      const { code, printed } = await tool('openapi-ts', [
        '-i',
        'openapi.json',
        '-o',
        'hey',
        '--no-log-file',
        ...plugins,
      ])
      expect(code, printed).toBe(0)
      await compiles('hey')
      const bundle = tempDir.file('hey.mjs')
      await build({ entryPoints: [tempDir.file('hey/sdk.gen.ts')], outfile: bundle, bundle: true, format: 'esm' })
      const sdk = (await import(/* @vite-ignore */ pathToFileURL(bundle).href)) as Record<
        string,
        (o: object) => Promise<any>
      >
      const common = {
        baseUrl: service.base,
        headers: { authorization: `Basic ${btoa(`${service.ready.api_key}:`)}` },
      }
      const refused = await sdk['createJob']!({ ...common, body: { ...job, input: '999999' } })
      expect(refused.error.error.code).toBe('invalid_request')
      const { data: upload } = await sdk['createUpload']!({
        ...common,
        query: { name: 'film.mp4' },
        body: new Blob([new Uint8Array(1000)]),
      })
      const { data: created } = await sdk['createJob']!({
        ...common,
        query: { dry_run: 'true' },
        body: { ...job, input: upload.input },
      })
      const { data: read } = await sdk['getJob']!({ ...common, path: { id: String(created._auto_generated_id_) } })
      expect(read.status.dry_run).toBe(true)
    })

    test('openapi-python-client makes a client without a warning, and a job is made with it', async () => {
      const options = ['--config', join(TOOLS, 'python.yaml'), '--path', 'openapi.json', '--output-path', 'python']
      const { code, printed } = await tool('python/bin/openapi-python-client', ['generate', ...options])
      expect(printed.trim()).toBe('Generating python')
      expect(code).toBe(0)
      await cp(join(TOOLS, 'use.py'), tempDir.file('use.py'))
      await symlink(tempDir.file('python/splicepoint_client'), tempDir.file('splicepoint_client'))
      const used = await tool('python/bin/python', ['use.py'], {
        BASE: service.base,
        KEY: service.ready.api_key,
        FILE: tempDir.file('film.mp4'),
        JOB: JSON.stringify(job),
      })
      expect(used.code, used.printed).toBe(0)
      expect(JSON.parse(used.stdout)).toContain('film-90.mp4')
    })
  },
)
