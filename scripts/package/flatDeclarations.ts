// In charge of: one declaration file for an entry of the package, from those that `tsc -b` writes for each module. It
// contains only what the entry exports and needs, so there are no dependencies and no internal types.
// Not in charge of: types that only zod can express (contractTypes.ts).
import { dirname, join } from 'node:path'
import { rolldown, type Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const WRITTEN = 'written.d.ts'

export interface DeclarationSources {
  /** Directory with the declarations of `#contract/*`. */
  contract: string
  /** Declarations that replace those of a module. */
  replaced: ReadonlyMap<string, string>
}

/** Resolves the modules of tsc's output, and takes the types that are replaced from one module that declares them all. */
function written({ contract, replaced }: DeclarationSources): Plugin {
  const text = [...replaced.values()].map((each) => `export ${each}`).join('\n')
  return {
    name: 'written',
    resolveId: {
      order: 'pre',
      handler: (id, from) => {
        if (id === WRITTEN) return id
        const base = id.startsWith('#contract/') ? contract : id.startsWith('.') && from ? dirname(from) : null
        return base === null ? null : join(base, id.replace('#contract/', '').replace(/(?<!\.d)\.ts$/, '.d.ts'))
      },
    },
    load: (id) => (id === WRITTEN ? `import type { JobConfig } from '#contract/job/jobConfig.ts';\n${text}\n` : null),
    transform: {
      order: 'pre',
      handler: (code, id) => {
        if (id === WRITTEN) return null
        const names: string[] = []
        // tsc starts each declaration at the beginning of a line, and ends it there.
        const rest = code.replaceAll(
          /^export (?:type|interface) (\w+)[^]*?(?:;|^\})\n/gm,
          (all: string, name: string) => {
            if (!replaced.has(name)) return all
            names.push(name)
            return ''
          },
        )
        const list = `{ ${names.join(', ')} } from '${WRITTEN}';\n`
        return names.length === 0 ? null : `import type ${list}export type ${list}${rest}`
      },
    },
  }
}

/** @throws Error if a type of zod is left */
export async function flatDeclarations(entry: string, sources: DeclarationSources): Promise<string> {
  const bundle = await rolldown({
    input: entry,
    plugins: [written(sources), dts({ dtsOnly: true, generator: 'oxc' })],
    external: (id) => id.startsWith('node:') || id.startsWith('zod'),
  })
  const { output } = await bundle.generate({ format: 'es' })
  const [chunk] = output
  if (/\bfrom ["']zod/.test(chunk.code)) throw new Error(`${entry} needs a type of the validating library.`)
  return chunk.code
}
