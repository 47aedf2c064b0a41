// In charge of: the documentation's site: `npm run build -- docs [--base /path/]` writes it to dist/docs, for any host of files.
// Not in charge of: which pages there are and what they say (pages.ts).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderMermaidSVG } from 'beautiful-mermaid'
import { defineConfig } from 'vitepress'
import { ROOT, STAGED, stagePages } from './pages.ts'
import { search } from './search.ts'

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
const at = process.argv.indexOf('--base')
const base = at < 0 ? '/' : process.argv[at + 1]!
const { shelves, sentences } = await stagePages(base)
/** Of diagrams: the background and the foreground of the theme. */
const SCHEMES = [
  ['light', '#ffffff', '#3c3c43'],
  ['dark', '#1b1b1f', '#dfdfd6'],
] as const

export default defineConfig({
  title: 'Splicepoint',
  lang: 'en-GB',
  base,
  srcDir: STAGED,
  srcExclude: ['public/**'],
  outDir: join(ROOT, 'dist/docs'),
  cacheDir: join(ROOT, 'dist/docs-cache'),
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  transformPageData: ({ relativePath }) => ({ description: sentences.get(relativePath) ?? '' }),
  transformHead: ({ page }) => [['link', { rel: 'alternate', type: 'text/markdown', href: base + page }]],
  markdown: {
    // GitHub shows {…} as it stands.
    attrs: { disable: true },
    theme: { light: 'github-light-default', dark: 'github-dark-default' },
    // The anchors that GitHub makes, to which the pages link.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .trim()
          .replaceAll(' ', '-'),
    },
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
    sidebar: shelves,
    outline: [2, 3],
    nav: [
      { text: 'Recipes', link: '/recipes' },
      { text: 'API', link: '/api' },
      { text: 'Parameters', link: '/parameters' },
      {
        text: version,
        items: [
          { text: 'Changes', link: '/changelog' },
          { text: 'Upgrading', link: '/upgrading' },
        ],
      },
    ],
    socialLinks: [{ icon: 'github', link: 'https://github.com/splicepoint/splicepoint' }],
  },
})
