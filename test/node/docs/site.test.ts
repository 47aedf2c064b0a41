// In charge of: the documentation's site as `npm run build -- docs` writes it: its search answers newcomers, each link leads
// to a page and a heading, and each page is there as Markdown too.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { beforeAll, describe, expect, test } from 'vitest'
import { search } from '../../../docs/.vitepress/search.ts'
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
}

const BASE = '/manual/'
const SITE = join(ROOT, 'dist/docs')
const read = (path: string): Promise<string> => readFile(join(SITE, path), 'utf8')
let files: string[]
beforeAll(async () => {
  const built = await runProgram(process.execPath, ['scripts/build.ts', 'docs', '--base', BASE], { cwd: ROOT })
  if (built.code !== 0) throw new Error(built.stdout + built.stderr)
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
      const { origin, pathname, hash } = new URL(link!, `https://site.test${BASE}${page}`)
      if (origin !== 'https://site.test') continue
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
