// In charge of: what the site adds to VitePress's theme: colours, the list of versions, and a link to each page as Markdown.
import { h } from 'vue'
import { useData, withBase } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
// oxlint-disable-next-line import/no-unassigned-import -- VitePress's way to add styles
import './style.css'
import { Versions } from './versions.js'

const AsMarkdown = () =>
  h('a', { class: 'as-markdown', href: withBase(`/${useData().page.value.relativePath}`) }, 'This page as Markdown')

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('Versions', Versions),
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-footer-before': () => h(AsMarkdown) }),
}
