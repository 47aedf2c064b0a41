// Imports of the production code, types included: no folder imports one above it. Circles are oxlint's (import/no-cycle).
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../../support/service.ts'

const TOPS = ['contract', 'worker', 'transcoder', 'client', 'cli', 'web/src', 'scripts']
const imports = new Map<string, string[]>()

beforeAll(async () => {
  const { stdout } = await promisify(execFile)('git', ['ls-files', ...TOPS], { cwd: ROOT, maxBuffer: 1e7 })
  const files = stdout.split('\n').filter((path) => /(?<!\.d)\.tsx?$/.test(path))
  const known = new Set(files)
  for (const file of files) {
    const text = await readFile(join(ROOT, file), 'utf8')
    const specifiers = [...text.matchAll(/(?:from|import\() ?'([^']+)'/g)].map(([, specifier]) => specifier!)
    const targets = specifiers.map((specifier) =>
      specifier.startsWith('#contract/') ? specifier.slice(1) : normalize(join(dirname(file), specifier)),
    )
    imports.set(
      file,
      targets.filter((target) => known.has(target)),
    )
  }
})

/** Imports from a file below `from` to a file below one of `targets`. */
function arrows(from: string, targets: readonly string[]): string[] {
  return [...imports]
    .filter(([file]) => file.startsWith(from))
    .flatMap(([file, list]) =>
      list.filter((path) => targets.some((target) => path.startsWith(target))).map((path) => `${file} → ${path}`),
    )
}

test('the contract stands on nothing, and nothing but the Worker itself stands on the Worker', () => {
  expect(imports.size).toBeGreaterThan(500)
  expect(
    arrows(
      'contract/',
      TOPS.slice(1).map((top) => `${top}/`),
    ),
  ).toEqual([])
  for (const top of ['transcoder/', 'client/', 'web/src/']) expect(arrows(top, ['worker/'])).toEqual([])
})

test('the engine and the formats know nothing of jobs, the cutters only the plan', () => {
  const jobs = ['contract/job/', 'contract/task/', 'contract/api/']
  for (const folder of ['transcoder/ffmpeg/', 'transcoder/formats/']) expect(arrows(folder, jobs)).toEqual([])
  const ofCutters = arrows('transcoder/segmenter/cutters/', jobs)
  expect(ofCutters.filter((arrow) => !arrow.includes('→ contract/task/plan/'))).toEqual([])
})

/** Each folder may import those before it. */
const ORDER: Record<string, readonly string[]> = {
  worker: [
    'util',
    'secrets',
    'db',
    'metrics',
    'storage',
    'http',
    'transcoders',
    'scheduler',
    'monitor',
    'webhooks',
    'taskApi',
    'delivery',
    'uploads',
    'jobs',
    'shares',
    'admin',
    'service',
    'diagnosis',
  ],
  transcoder: [
    'formats',
    'plan',
    'manifests',
    'ffmpeg',
    'taskApi',
    'upload',
    'source',
    'analysis',
    'segmenter',
    'outputAnalysis',
    'pipeline',
    'division',
    'server',
    'registration',
  ],
  contract: ['job', 'task', 'api'],
  'web/src': ['text', 'api', 'parts', 'player', 'transfers', 'job', 'jobs', 'form', 'admin', 'pages', 'share'],
}

describe('no arrow climbs', () => {
  test.each(Object.keys(ORDER))('in %s', (top) => {
    const folders = ORDER[top]!
    const climbing = folders.flatMap((folder, index) =>
      arrows(
        `${top}/${folder}/`,
        folders.slice(index + 1).map((above) => `${top}/${above}/`),
      ),
    )
    expect(climbing).toEqual([])
  })
})
