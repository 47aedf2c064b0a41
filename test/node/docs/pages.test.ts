// The documentation against the code: every request of docs/recipes.md is accepted, every error code, setting and route
// is described.
import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorHelp } from '#contract/errorAdvice.ts'
import { jobErrorPolicies, requestErrorStatus, type JobErrorCode } from '#contract/errorCodes.ts'
import { builtInPreset, mergePreset, presetNameOf } from '#contract/job/builtInPresets.ts'
import type { JsonObject } from '#contract/job/fieldReader.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import {
  AUDIO_PROFILES,
  MAX_BODY_BYTES,
  MAX_LOGO_BYTES,
  MAX_RESUMABLE_BYTES,
  MAX_UPLOAD_BYTES,
  RETENTION_DAYS,
  VIDEO_PROFILES,
} from '#contract/limits.ts'
import { REQUIRED_MIGRATIONS } from '#contract/api/requiredMigrations.ts'
import { operations } from '../../../scripts/openapi/operations.ts'
import { ROOT } from '../../../scripts/local/localSettings.ts'

const read = (path: string) => readFile(join(ROOT, path), 'utf8')
const [recipes, troubleshooting, operating, readme, apiPage] = await Promise.all(
  ['docs/recipes.md', 'docs/troubleshooting.md', 'docs/operating.md', 'README.md', 'docs/api.md'].map(read),
)

/** The text below a heading of the second level, up to the next one. */
function section(text: string, heading: string): string {
  const found = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0]
  if (found === undefined) throw new Error(`there is no section "${heading}"`)
  return found
}

/** The cells of table rows that start with a name in backticks, without its anchor. */
function rows(text: string): string[][] {
  return [...text.matchAll(/^\| (?:<a id="\w+"><\/a>)?(`[^\n]*)$/gm)].map(([, row]) =>
    `|${row}`
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

describe('docs/recipes.md', () => {
  const blocks = recipes!
    .split('\n## ')
    .flatMap((part) =>
      [...part.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map((block) => [part.split('\n')[0]!, block[1]!]),
    )

  it('has a request for each recipe', () => {
    expect(blocks).toHaveLength(recipes!.match(/^## /gm)!.length)
  })

  it.each(blocks)('%s is accepted without a warning', (_name, text) => {
    const body = JSON.parse(text) as JsonObject
    const preset = builtInPreset(presetNameOf(body) ?? '')
    const result = validateJob(preset ? mergePreset(preset.job, body) : body, { baseUrl: 'https://api.example.test' })
    expect(result).toMatchObject({ ok: true, warnings: [] })
  })
})

describe('docs/troubleshooting.md', () => {
  it('has every error of a request once, with its status', () => {
    const found = rows(section(troubleshooting!, 'Errors of a request')).map(([code, status]) => [code, Number(status)])
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(requestErrorStatus).map(([code, status]) => [`\`${code}\``, status])),
    )
    expect(found).toHaveLength(Object.keys(requestErrorStatus).length)
  })

  it('has every error of a job once, and whether it is tried again', () => {
    const found = rows(section(troubleshooting!, 'Errors of a job')).map(([code, again]) => [code, again])
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(
        Object.entries(jobErrorPolicies).map(([code, { permanent }]) => [`\`${code}\``, permanent ? 'no' : 'yes']),
      ),
    )
    expect(found).toHaveLength(Object.keys(jobErrorPolicies).length)
  })

  it('has the row that `docs` of each error leads to', () => {
    for (const code of [...Object.keys(requestErrorStatus), ...Object.keys(jobErrorPolicies)] as JobErrorCode[]) {
      const [page, anchor] = errorHelp(code).docs.split('#')
      expect(page).toMatch(/\/docs\/troubleshooting\.md$/)
      expect(troubleshooting!.split(`<a id="${anchor}"></a>\`${code}\``), code).toHaveLength(2)
    }
  })

  it('says of each what it means and what to do', () => {
    for (const row of rows(troubleshooting!))
      for (const cell of row.slice(2)) expect(cell.length, row.join(' | ')).toBeGreaterThan(10)
  })
})

it('contract/api/requiredMigrations.ts names every migration that there is', async () => {
  const there = (await readdir(join(ROOT, 'migrations'))).filter((name) => name.endsWith('.sql')).toSorted()
  expect([...REQUIRED_MIGRATIONS]).toEqual(there)
})

describe('docs/operating.md', () => {
  const described = new Set(rows(operating!).map(([name]) => name!.replaceAll('`', '')))

  it.each([
    ['worker/env.ts', /\benv\.([A-Z][A-Z_]+)/g],
    ['scripts/local/localSettings.ts', /env\['([A-Z_]+)'\]|whole\(env, '([A-Z_]+)'|pick\(env, \[(.*)\]/g],
    ['transcoder/settings.ts', /env\['([A-Z_]+)'\]/g],
    ['wrangler.toml', /^([A-Z_]+) = "|required = \[(.*)\]/gm],
  ])('describes every setting of %s', async (path, pattern) => {
    const text = await read(path)
    const names = [...text.matchAll(pattern)]
      .flatMap((match) => match.slice(1).filter((group) => group !== undefined))
      .flatMap((group) => group.match(/[A-Z][A-Z_]+/g) ?? [])
    expect(names.length).toBeGreaterThan(3)
    expect([...new Set(names)].filter((name) => !described.has(name) && name !== 'INIT_CWD')).toEqual([])
  })
})

describe('README.md', () => {
  it('has a first request that is accepted, with curl 7.76', () => {
    const [command, body] = /^curl [^']*-H 'Content-Type: application\/json'[^']*-d '(\{[^']*)'/m.exec(readme!)!
    const result = validateJob(JSON.parse(body!), { baseUrl: 'https://api.example.test' })
    expect(result).toMatchObject({ ok: true, warnings: [] })
    expect(command).toContain('"$KEY:"')
    // curl 7.76 added --fail-with-body, 7.82 --json, 7.84 %header{}: Ubuntu 22.04 has 7.81.
    expect(readme).not.toMatch(/--json|%header\{/)
  })
})

describe('docs/api.md', () => {
  it('names every route', () => {
    const routes = section(apiPage!, 'Routes').replaceAll('<id>', '{id}')
    // What lies below an object other than a job is in its row.
    const begin = /^\S+ (\/api\/v0\/job\/\{id\}\/[a-z]+|[^{]*[a-z])/
    const begins = Object.keys(operations).map((name) => begin.exec(name)![1]!.replace(/\/rotate$/, ''))
    expect(begins.length).toBeGreaterThan(30)
    expect([...new Set(begins)].filter((path) => !routes.includes(path))).toEqual([])
  })
})

describe('docs/limits.md', () => {
  it('has the numbers that the service enforces', async () => {
    const page = await read('docs/limits.md')
    const named = [
      `${MAX_UPLOAD_BYTES / 1e6} MB`,
      `${MAX_RESUMABLE_BYTES / 1e9} GB`,
      `${MAX_BODY_BYTES / 1024} KiB`,
      `${VIDEO_PROFILES.minimum} to ${VIDEO_PROFILES.maximum}, ${AUDIO_PROFILES.minimum} to ${AUDIO_PROFILES.maximum}`,
      `${MAX_LOGO_BYTES / 1e6} MB`,
    ]
    for (const text of named) expect(page).toContain(text)
    const days = [...page.matchAll(/(\d+) days/g)].map(([, number]) => Number(number))
    expect(new Set(days)).toEqual(new Set(Object.values(RETENTION_DAYS)))
  })
})

describe('paths of the repository', () => {
  const folders = 'bench|cli|client|contract|migrations|scripts|test|transcoder|web|worker'
  /** In backticks, or as an argument of a command. NAME stands for a file that the reader makes. */
  const path = new RegExp(`(?<=[\`\\s])((?:${folders})/[\\w./-]*)(?=[\`\\s])`, 'g')

  it('are there, on every page', async () => {
    const names = (await readdir(join(ROOT, 'docs'), { recursive: true })).filter((name) =>
      /^((?:internals|tutorials)\/)?[^/]+\.md$/.test(name),
    )
    let count = 0
    for (const page of [...names.map((name) => `docs/${name}`), 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'])
      for (const [named] of (await read(page)).matchAll(path)) {
        if (named.includes('NAME')) continue
        count++
        await expect(access(join(ROOT, named)), `${page}: ${named}`).resolves.toBeUndefined()
      }
    expect(count).toBeGreaterThan(150)
  })
})

describe('docs/internals/security.md', () => {
  it('has a test for each promise that is a row', async () => {
    const promises = section(await read('docs/internals/security.md'), 'Credentials of stores')
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(2)
      .map((line) => line.split(' | ').map((cell) => cell.trim()))
    expect(promises.length).toBeGreaterThan(5)
    for (const [promise, , proof] of promises) expect(proof, promise).toMatch(/`test\/[\w./-]+\.test\.ts`/)
  })
})
