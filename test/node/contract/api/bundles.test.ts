// In charge of: schemas of answers are imported only for their types: no shipped program contains them, or the part of
// zod that they need.
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../../..')
const CONTRACT = resolve(ROOT, 'contract')

async function schemaFiles(): Promise<string[]> {
  const names = (await readdir(CONTRACT, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(names.map((name) => readFile(join(CONTRACT, name), 'utf8')))
  return names.filter((_name, index) => /^import (type )?\* as z from 'zod'$/m.test(texts[index]!))
}

test.each([
  'worker/index.ts',
  'web/src/main.tsx',
  'web/src/share/main.tsx',
  'client/index.ts',
  'client/browser.ts',
  'cli/main.ts',
])('%s', async (entry) => {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outdir: 'nowhere',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: entry.startsWith('cli') || entry.startsWith('client/index') ? 'node' : 'browser',
    external: ['cloudflare:*', 'node:*'],
    loader: { '.svg': 'text' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'silent',
  })
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
  expect(used.length).toBeGreaterThan(3)
  const schemas = (await schemaFiles()).map((name) => relative(ROOT, join(CONTRACT, name)))
  expect(schemas).toContain(relative(ROOT, join(CONTRACT, 'api/answers.ts')))
  expect(used.filter((path) => schemas.includes(path) || path.includes('zod/v4/classic/'))).toEqual([])
})
