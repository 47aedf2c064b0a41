// In charge of: the declaration files of the package (`rolldown --config`), from those that `tsc -b client` writes. Each
// contains only what its entry exports and needs, so there are no dependencies and no internal types.
// Not in charge of: types that only zod can express (contractTypes.ts).
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { defineConfig } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { contractTypes } from './contractTypes.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CONTRACT = join(ROOT, '.tsbuild/contract/contract')
/** A module with the types that are written without zod. They name one type of another module. */
const WRITTEN = join(CONTRACT, 'written.d.ts')

const written = contractTypes()
const writtenText = [
  `import type { JobConfig } from './job/jobConfig.d.ts'`,
  ...[...written.values()].map((text) => `export ${text}`),
].join('\n')

const withoutZod = {
  name: 'without-zod',
  resolveId: {
    order: 'pre',
    handler(id, importer) {
      if (id === WRITTEN) return id
      if (!/^(\.|#contract\/)/.test(id)) return null
      const path = id.startsWith('#') ? join(CONTRACT, id.replace('#contract/', '')) : join(importer, '..', id)
      return path.replace(/(\.d)?\.ts$/, '.d.ts')
    },
  },
  load: {
    order: 'pre',
    async handler(id) {
      if (id === WRITTEN) return writtenText
      const replaced = []
      const text = (await readFile(id, 'utf8')).replaceAll(/^export type (\w+) = .*;$/gm, (declaration, name) => {
        if (!written.has(name)) return declaration
        replaced.push(name)
        return ''
      })
      if (replaced.length === 0) return text
      const names = replaced.join(', ')
      return `import type { ${names} } from '${WRITTEN}';\nexport type { ${names} };\n${text}`
    },
  },
}

export default defineConfig(
  Object.entries({ client: 'index', browser: 'browser' }).map(([name, entry]) => ({
    external: /^zod/,
    input: { [name]: join(ROOT, `.tsbuild/client/client/${entry}.d.ts`) },
    // `oxc` only avoids a warning: there is nothing that has no declarations yet.
    plugins: [withoutZod, dts({ dtsOnly: true, generator: 'oxc' })],
    output: { dir: join(ROOT, 'dist/npm') },
  })),
)
