// In charge of: the list of versions in the navigation: the same page in another version, or where there is none its first page.
import { h, onMounted, ref } from 'vue'
import { useData } from 'vitepress'

export const Versions = {
  setup() {
    const { page, theme } = useData()
    const { root, path, name } = theme.value.version
    const versions = ref([{ name, path }])
    onMounted(async () => {
      const answer = await fetch(`${root}versions.json`)
      if (answer.ok) versions.value = await answer.json()
    })
    const open = async ({ target }) => {
      const first = root + target.value
      const same = first + page.value.relativePath.replace(/(?:index)?\.md$/, '.html')
      const { ok } = await fetch(same, { method: 'HEAD' })
      location.assign(ok ? same : first)
    }
    const option = (each) => h('option', { value: each.path, selected: each.path === path }, each.name)
    return () => h('select', { class: 'versions', 'aria-label': 'Version', onChange: open }, versions.value.map(option))
  },
}
