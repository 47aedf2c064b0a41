// In charge of: the documentation's site: `npm run build -- docs [--base /path/]` writes it to dist/docs, for any host of
// files; with a base that ends with the version, such as /path/1.2.3/, to the folder of that version below it.
// Not in charge of: which pages there are and what they say (pages.ts).
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderMermaidSVG } from 'beautiful-mermaid'
import { defineConfigWithTheme, type DefaultTheme } from 'vitepress'
import { ROOT, slug, STAGED, stagePages } from './pages.ts'
import { search } from './search.ts'
import { placeOf, versionsOf, type Version } from './versions.ts'

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
const at = process.argv.indexOf('--base')
const base = at < 0 ? '/' : process.argv[at + 1]!
const { root, path } = placeOf(base, version)
const { sidebar, sentences } = await stagePages(base)
const versions = versionsOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version)
if (path === '') await writeFile(join(STAGED, 'public/versions.json'), JSON.stringify(versions))
/** Of diagrams: the background and the foreground of the theme. */
const SCHEMES = [
  ['light', '#ffffff', '#3c3c43'],
  ['dark', '#1b1b1f', '#dfdfd6'],
] as const

/** With what theme/versions.js reads. */
type Config = DefaultTheme.Config & { version: Version & { root: string } }

export default defineConfigWithTheme<Config>({
  title: 'Splicepoint',
  lang: 'en-GB',
  base,
  srcDir: STAGED,
  srcExclude: ['public/**'],
  outDir: join(ROOT, 'dist/docs', path),
  cacheDir: join(ROOT, 'dist/docs-cache'),
  // The search index is in the order in which pages were read: one after another, each build has the same bytes.
  buildConcurrency: 1,
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  transformPageData: ({ relativePath, frontmatter }) => ({
    description: sentences.get(relativePath) ?? '',
    // Requests and answers stand beside what describes them.
    frontmatter: relativePath.startsWith('reference/')
      ? { ...frontmatter, aside: false, pageClass: 'reference' }
      : frontmatter,
  }),
  transformHead: ({ page }) => [['link', { rel: 'alternate', type: 'text/markdown', href: base + page }]],
  markdown: {
    // GitHub shows {…} as it stands.
    attrs: { disable: true },
    theme: { light: 'github-light-default', dark: 'github-dark-default' },
    // Shiki gives a line up after half a second: on a busy machine, the same page would have other colours.
    codeTransformers: [{ preprocess: (_code, options) => void (options.tokenizeTimeLimit = 0) }],
    // The anchors that GitHub makes, to which the pages link.
    anchor: { slugify: slug },
    config(md) {
      const fence = md.renderer.rules.fence!
      md.renderer.rules.fence = (...args) => {
        const [tokens, index] = args
        const { info, content } = tokens[index]!
        if (info !== 'mermaid') return fence(...args)
        return SCHEMES.map(([scheme, bg, fg]) => {
          // Without the font that it would load from elsewhere.
          const svg = renderMermaidSVG(content, { bg, fg }).replace(/@import[^\n]*/, '')
          return `<img class="diagram-${scheme}" alt="Diagram" src="data:image/svg+xml,${encodeURIComponent(svg)}">`
        }).join('')
      }
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local', options: search },
    sidebar,
    outline: [2, 3],
    nav: [
      { text: 'Recipes', link: '/recipes' },
      { text: 'API', link: '/reference/' },
      { text: 'Parameters', link: '/parameters' },
      { text: 'Changes', link: '/changelog' },
      { component: 'Versions' },
    ],
    version: { root, path, name: path === '' ? versions[0]!.name : version },
    socialLinks: [{ icon: 'github', link: 'https://github.com/splicepoint/splicepoint' }],
  },
})
