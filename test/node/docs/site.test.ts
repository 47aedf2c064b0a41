// In charge of: the documentation's site as `npm run build -- docs` writes it: its search answers newcomers, each link leads
// to a page and a heading, each page is there as Markdown too, the reference has every operation, and a reader chooses among versions.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { search } from '../../../docs/.vitepress/search.ts'
import { versionsOf, type Version } from '../../../docs/.vitepress/versions.ts'
import { openapi } from '../../../scripts/openapi/openapiDocument.ts'
import { groupsOf, type ShownDocument } from '../../../scripts/openapi/shownDocument.ts'
import { APPEARANCES, checkAccessibility } from '../../support/browser/accessibility.ts'
import { launchChromium, openDashboard, requireChromium } from '../../support/browser/dashboardPage.ts'
import { expectAddress, expectTexts } from '../../support/browser/pageAssertions.ts'
import { findChromium } from '../../support/browser/playerBrowser.ts'
import { runProgram } from '../../support/runProgram.ts'
import { ROOT } from '../../support/service.ts'

/** What newcomers type, each with the page that has the answer. */
const QUESTIONS: Readonly<Record<string, string>> = {
  'how do I get HLS': 'segmented',
  cors: 'sharing',
  'webhook signature': 'webhooks',
  'mp4 from iphone': 'choose-outputs',
  subtitles: 'captions',
  'S3 credentials': 'stores',
  'why did my job fail': 'troubleshooting',
  'how much does it cost': 'usage',
  'install on my own server': 'self-hosting',
  'deploy to cloudflare': 'operating',
  'upload a large file': 'uploads',
  'embed a player in my website': 'your-site',
  'thumbnail from a video': 'stills',
  python: 'tutorials/python',
  'api key': 'api',
  'cut a clip': 'cuts',
  'extract audio as mp3': 'audio',
  'progress of a job': 'api',
  'maximum file size': 'limits',
  'migrate from mediaconvert': 'migrating',
  watermark: 'recipes',
  'going live checklist': 'production',
  'revoke an API key': 'reference/keys',
  'list the deliveries of webhooks': 'reference/webhooks',
}

const BASE = '/manual/'
const SITE = join(ROOT, 'dist/docs')
const HOST = 'http://site.test'
const read = (path: string): Promise<string> => readFile(join(SITE, path), 'utf8')
async function build(base: string): Promise<void> {
  const built = await runProgram(process.execPath, ['scripts/build.ts', 'docs', '--base', base], { cwd: ROOT })
  if (built.code !== 0) throw new Error(built.stdout + built.stderr)
}
/** As a host of files does. */
const serveSite = (page: Page, there: ReadonlySet<string>): Promise<unknown> =>
  page.route(`${HOST}/**`, (route) => {
    const path = new URL(route.request().url()).pathname.slice(BASE.length).replace(/^$|\/$/, '$&index.html')
    return route.fulfill(there.has(path) ? { path: join(SITE, path) } : { status: 404 })
  })
let files: string[]
beforeAll(async () => {
  await build(BASE)
  files = await readdir(SITE, { recursive: true })
})

describe('its search', () => {
  let index: MiniSearch
  beforeAll(async () => {
    const name = files.find((file) => file.includes('@localSearchIndex'))!
    const { default: json } = (await import(join(SITE, name))) as { default: string }
    // As the site's own dialog reads it.
    const fields = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] }
    index = MiniSearch.loadJSON(json, { ...fields, ...search.miniSearch.options })
  })

  test.each(Object.entries(QUESTIONS))('%s → %s', (question, page) => {
    const [first] = index.search(question, search.miniSearch.searchOptions)
    expect(String(first?.id).split('#')[0]).toBe(`${BASE}${page}.html`)
  })
})

test('each link leads to a page or file of the site, and to a heading that is there', async () => {
  const pages = files.filter((name) => name.endsWith('.html') && name !== '404.html')
  const texts = new Map(await Promise.all(pages.map(async (name) => [name, await read(name)] as const)))
  const lost: string[] = []
  for (const [page, text] of texts)
    for (const [, link] of text.matchAll(/\bhref="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(link!, `${HOST}${BASE}${page}`)
      if (origin !== HOST) continue
      const path = pathname.slice(BASE.length).replace(/^$|\/$/, '$&index.html')
      const anchored = hash === '' || texts.get(path)?.includes(`id="${decodeURIComponent(hash.slice(1))}"`)
      if (!pathname.startsWith(BASE) || !files.includes(path) || !anchored) lost.push(`${page} → ${link}`)
    }
  expect(pages.length).toBeGreaterThan(50)
  expect(lost).toEqual([])
})

test('llms.txt leads to pages in Markdown, each with a sentence', async () => {
  const lines = (await read('llms.txt')).match(/^- .*/gm)!
  expect(lines.length).toBeGreaterThan(40)
  for (const line of lines) {
    const [, title, path] = /^- \[(.+?)\]\(\/manual\/(\S+\.md)\): \S.{20,}$/.exec(line) ?? []
    expect(path, line).toBeDefined()
    expect(await read(path!)).toContain(`# ${title}`)
  }
})

test('the reference has every operation, with its request, answers and errors', async () => {
  let count = 0
  for (const { name, list } of groupsOf(openapi() as unknown as ShownDocument)) {
    const page = await read(`reference/${name.toLowerCase()}.md`)
    expect(page).not.toContain('<div')
    for (const { method, path, one } of list) {
      count += 1
      const part = page.split(`\n## ${one.summary}\n`)[1]?.split('\n## ')[0] ?? ''
      const codes = Object.entries(one.responses).flatMap(([status, { description }]) =>
        Number(status) >= 500 || status[0] === '4'
          ? description.split(', ').filter((word) => /^[a-z_]+$/.test(word))
          : [],
      )
      const answer = one.responses['200']?.content?.['application/json']?.example
      const wanted = [
        one.description.split('`')[0]!,
        one['x-codeSamples'][0]!.source,
        ...one.parameters.map((each) => each.name),
      ]
      for (const text of [`\`${method.toUpperCase()} ${path}\``, ...wanted, ...codes.map((code) => `\`${code}\``)])
        expect(part).toContain(text)
      if (answer !== undefined) expect(part).toContain(JSON.stringify(answer, null, 2))
    }
  }
  expect(count).toBeGreaterThan(45)
})

test.each(APPEARANCES)('the reference, %s: axe finds nothing, nothing beyond the edge', async (name, options) => {
  const chromium = await findChromium()
  if (chromium === null) return
  await using browser = await launchChromium(chromium)
  const { page, complaints } = await openDashboard(browser, HOST, options)
  await serveSite(page, new Set(files))
  await page.goto(`${BASE}reference/keys.html`)
  await checkAccessibility(page, `site-reference-${name}`, false)
  expect(await complaints()).toEqual([])
})

describe('versions', () => {
  test('are the latest and those of the changelog', () => {
    const changelog = '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2027-02-01\n\n- New.\n\n## [0.1.0] - 2027-01-01\n'
    const released: Version[] = [
      { name: '0.2.0', path: '0.2.0/' },
      { name: '0.1.0', path: '0.1.0/' },
    ]
    expect(versionsOf(changelog, '0.2.0')).toEqual([{ name: 'latest', path: '' }, ...released])
    expect(versionsOf('## [Unreleased]\n', '0.1.0')).toEqual([{ name: '0.1.0 (unreleased)', path: '' }])
  })

  test('a reader of an old one opens the same page of another, or its first page', async (context) => {
    const chromium = await findChromium()
    requireChromium(context, chromium)
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    await build(`${BASE}${version}/`)
    const both = new Set(await readdir(SITE, { recursive: true }))
    // A page that the old version does not have.
    both.delete(`${version}/cuts.html`)
    const offered = JSON.parse(await read('versions.json')) as Version[]
    expect(offered).toEqual(versionsOf(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'), version))
    // As it is after the next release.
    const later: Version[] = [
      { name: 'latest', path: '' },
      { name: version, path: `${version}/` },
    ]
    await using browser = await launchChromium(chromium!)
    const { page, complaints } = await openDashboard(browser, HOST)
    await serveSite(page, both)
    await page.route(`${HOST}${BASE}versions.json`, (route) => route.fulfill({ json: later }))
    await page.goto(`${BASE}${version}/audio.html`)
    const choice = page.getByRole('combobox', { name: 'Version' })
    await expectTexts(choice.locator('option')).toEqual(['latest', version])
    await expectTexts(choice.locator('option:checked')).toEqual([version])
    expect(await complaints()).toEqual([])
    await choice.selectOption('latest')
    await expectAddress(page).toBe(`${BASE}audio.html`)
    await page.goto(`${BASE}cuts.html`)
    await expectTexts(choice.locator('option:checked')).toEqual(['latest'])
    await choice.selectOption(version)
    await expectAddress(page).toBe(`${BASE}${version}/`)
  })
})
