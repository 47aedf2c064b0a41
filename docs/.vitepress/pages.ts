// In charge of: the pages of the documentation's site: which they are (the index, docs/README.md, and what it leads to), where
// they stand, their links, and llms.txt. The same text is served as HTML and as Markdown. The pages of the API reference are made
// of the OpenAPI document.
// Not in charge of: HTML, search and looks (config.ts).
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { openapi } from '../../scripts/openapi/openapiDocument.ts'
import { referencePages } from '../../scripts/openapi/referenceMarkdown.ts'

export const ROOT = resolve(import.meta.dirname, '../..')
export const STAGED = join(ROOT, 'dist/docs-pages')
const REPOSITORY = 'https://github.com/splicepoint/splicepoint/blob/main/'
const INDEX = 'docs/README.md'

/** Pages that stand elsewhere on the site than in the repository; of the others, `docs/` is left out. */
const PLACES: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  [INDEX]: 'contents.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security-policy.md',
}
const placeOf = (source: string): string => PLACES[source] ?? source.replace(/^docs\//, '')

/** The anchor that GitHub makes of a heading. */
export const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const LINK = /\]\((?!\w+:)([^)#\s]*)(#[^)\s]*)?\)/g

interface Page {
  /** In the repository. */
  source: string
  /** On the site. */
  place: string
  title: string
  /** The first sentence. */
  sentence: string
  text: string
}

export interface Shelf {
  text: string
  link?: string
  collapsed?: boolean
  items: ({ text: string; link: string } | Shelf)[]
}

/** The Markdown without what marks it up. */
const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')

/** Outside of code, each link to a page leads to its place on the site, and each other one to the repository. */
function relink(text: string, source: string, sources: ReadonlySet<string>): string {
  const here = posix.dirname(placeOf(source))
  const link = (whole: string, path: string, anchor = ''): string => {
    if (path === '') return whole
    const target = posix.join(posix.dirname(source), path)
    if (!existsSync(join(ROOT, target))) throw new Error(`${source} links to ${target}, which is not there.`)
    if (/\.(?:png|svg)$/.test(target)) return `](${posix.relative(here, placeOf(target))})`
    return `](${sources.has(target) ? posix.relative(here, placeOf(target)) : REPOSITORY + target}${anchor})`
  }
  return text
    .split(/^(```[^]*?^```)$/m)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(LINK, link)))
    .join('')
}

async function readPages(): Promise<Page[]> {
  const index = await readFile(join(ROOT, INDEX), 'utf8')
  const listed = [...index.matchAll(LINK)]
    .map(([, path]) => posix.join('docs', path!))
    .filter((path) => path.endsWith('.md'))
  const measured = (await readdir(join(ROOT, 'docs/internals/matrix'))).map((name) => `docs/internals/matrix/${name}`)
  const sources = new Set(['README.md', INDEX, ...listed, ...measured.filter((name) => name.endsWith('.md'))])
  return Promise.all(
    [...sources].map(async (source) => {
      const text = relink(await readFile(join(ROOT, source), 'utf8'), source, sources)
      return pageOf(source, placeOf(source), text)
    }),
  )
}

function pageOf(source: string, place: string, text: string): Page {
  const paragraph = plain(/\n\n(?=\w|`|\[)([^]*?)\n\n/.exec(text)?.[1] ?? '').replaceAll('\n', ' ')
  return {
    source,
    place,
    title: plain(/^# (.+)$/m.exec(text)![1]!),
    sentence: paragraph.replace(/\. .*|[.:]$/, '.'),
    text,
  }
}

/** The tree of the index: its headings, the bold lines below them, and the links below those. */
function shelvesOf(index: Page): Shelf[] {
  const shelves: Shelf[] = []
  for (const part of index.text.split('\n## ').slice(1)) {
    const [heading, ...lines] = part.split('\n')
    const shelf: Shelf = { text: heading!, items: [] }
    let group = shelf
    for (const line of lines) {
      const name = /^\*\*(.+)\*\*$/.exec(line)?.[1]
      if (name !== undefined) shelf.items.push((group = { text: name, items: [] }))
      for (const [, text, path] of line.matchAll(/\[([^\]]+)\]\(([^)#:]+\.md)\)/g))
        group.items.push({ text: text![0]!.toUpperCase() + text!.slice(1), link: `/${path}` })
    }
    shelves.push(shelf)
  }
  return shelves
}

/** llmstxt.org: every page of the users' shelves, with its first sentence. */
function llmsText(pages: readonly Page[], shelves: readonly Shelf[], base: string): string {
  const byPlace = new Map(pages.map((page) => [`/${page.place}`, page]))
  const lines = (items: Shelf['items']): string[] =>
    items.flatMap((item) => {
      if ('items' in item) return lines(item.items)
      const { place, title, sentence } = byPlace.get(item.link)!
      return [`- [${title}](${base}${place}): ${sentence}`]
    })
  const home = pages.find(({ place }) => place === 'index.md')!
  const parts = shelves.map(({ text, items }) => `## ${text}\n\n${lines(items).join('\n')}\n`)
  return [`# ${home.title}\n`, `> ${home.sentence}\n`, ...parts].join('\n')
}

/** Of the pages of the reference: the list beside them has their operations. */
function operationsOf({ title, place, text }: Page): Shelf {
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!)
  const items = headings.map((heading) => ({ text: heading, link: `/${place}#${slug(heading)}` }))
  return { text: title, link: `/${place}`, collapsed: true, items }
}

/** Writes the pages, as they are served in Markdown, with llms.txt and the images. */
export async function stagePages(
  base: string,
): Promise<{ sidebar: Record<string, Shelf[]>; sentences: Map<string, string> }> {
  const written = await readPages()
  const shelves = shelvesOf(written.find(({ source }) => source === INDEX)!)
  const reference = referencePages(openapi()).map(({ name, text }) => pageOf('', `reference/${name}.md`, text))
  const items = reference.map(({ title, place }) => ({ text: title, link: `/${place}` }))
  shelves.find(({ text }) => text === 'Reference')!.items.push({ text: 'API reference', collapsed: true, items })
  const pages = [...written, ...reference]
  await rm(STAGED, { recursive: true, force: true })
  for (const { place, text } of pages) {
    await mkdir(dirname(join(STAGED, place)), { recursive: true })
    await writeFile(join(STAGED, place), text)
    await mkdir(dirname(join(STAGED, 'public', place)), { recursive: true })
    // What stands beside each other on the site.
    await writeFile(join(STAGED, 'public', place), text.replaceAll(/^<\/?div.*\n*/gm, ''))
  }
  for (const folder of ['images', 'public/images'])
    await cp(join(ROOT, 'docs/images'), join(STAGED, folder), { recursive: true })
  await cp(join(ROOT, 'web/public/icon.svg'), join(STAGED, 'public/icon.svg'))
  await writeFile(join(STAGED, 'public/llms.txt'), llmsText(pages, shelves, base))
  const sidebar = {
    '/reference/': [{ text: 'All pages', link: '/contents.md', items: [] }, ...reference.map(operationsOf)],
    '/': shelves,
  }
  return { sidebar, sentences: new Map(pages.map(({ place, sentence }) => [place, sentence])) }
}
