// In charge of: one declaration file for an entry of the package, from those that `tsc -b` writes for each module. It
// contains only what the entry exports and needs, so there are no dependencies and no internal types.
// Not in charge of: types that only zod can express (contractTypes.ts).
// No library does it: with TypeScript 7 only rolldown-plugin-dts can, whose parser has no packages that a lockfile for every
// platform could name.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

interface Module {
  path: string
  declared: Map<string, string>
  /** Local name → its module, and its name there. */
  imported: Map<string, { from: string; name: string }>
  reexported: Map<string, { from: string; name: string }>
  everythingOf: string[]
}

export interface DeclarationSources {
  /** Directory with the declarations of `#contract/*`. */
  contract: string
  /** Declarations that replace those of a module. */
  replaced: ReadonlyMap<string, string>
}

/** @throws Error if two modules declare the same name, or a type of zod is left */
export async function flatDeclarations(entry: string, places: DeclarationSources): Promise<string> {
  const modules = new Map<string, Module>()
  const load = async (path: string): Promise<Module> => {
    const known = modules.get(path)
    if (known) return known
    const read = readModule(path, await readFile(path, 'utf8'), places.contract)
    modules.set(path, read)
    return read
  }
  const kept = new Map<string, { path: string; text: string }>()

  const resolve = async (path: string, name: string): Promise<{ module: Module; name: string } | null> => {
    const module = await load(path)
    if (module.declared.has(name)) return { module, name }
    const link = module.imported.get(name) ?? module.reexported.get(name)
    if (link) return resolve(link.from, link.name)
    for (const other of module.everythingOf) {
      const found = await resolve(other, name)
      if (found) return found
    }
    return null
  }
  const keep = async (path: string, wanted: string): Promise<string | null> => {
    const written = places.replaced.get(wanted)
    if (written !== undefined) {
      if (kept.has(wanted)) return wanted
      kept.set(wanted, { path, text: written })
      const origin = (await resolve(path, wanted))?.module.path ?? path
      for (const other of identifiersOf(written)) if (other !== wanted) await keep(origin, other)
      return wanted
    }
    const found = await resolve(path, wanted)
    if (!found) return null
    const { module, name } = found
    const there = kept.get(name)
    if (there && there.path !== module.path) throw new Error(`${name} is in ${there.path} and in ${module.path}.`)
    if (there) return name
    const text = module.declared.get(name) ?? ''
    if (/\bz\.\w/.test(text)) throw new Error(`${name} of ${module.path} is a type of the validating library.`)
    kept.set(name, { path: module.path, text })
    for (const other of identifiersOf(text)) if (other !== name) await keep(module.path, other)
    return name
  }

  const exported: string[] = []
  for (const name of await exportsOf(entry, load)) {
    const inside = await keep(entry, name)
    if (inside === null) throw new Error(`${entry} exports ${name}, which is nowhere.`)
    exported.push(inside === name ? name : `${inside} as ${name}`)
  }
  return `${[...kept.values()].map(({ text }) => text).join('\n')}\nexport { ${exported.join(', ')} };\n`
}

async function exportsOf(path: string, load: (path: string) => Promise<Module>): Promise<string[]> {
  const { declared, reexported, everythingOf } = await load(path)
  const others = await Promise.all(everythingOf.map((other) => exportsOf(other, load)))
  return [...new Set([...others.flat(), ...reexported.keys(), ...declared.keys()])].toSorted()
}

/** tsc starts each declaration, with its comment, at the beginning of a line. Only closing braces also start there. */
function readModule(path: string, text: string, contract: string): Module {
  const module: Module = {
    path,
    declared: new Map(),
    imported: new Map(),
    reexported: new Map(),
    everythingOf: [],
  }
  const placeOf = (specifier: string): string =>
    join(specifier.startsWith('#contract/') ? contract : dirname(path), specifier.replace('#contract/', '')).replace(
      /\.ts$/,
      '.d.ts',
    )
  // A comment belongs to the declaration after it.
  const statements = text.split(/^(?=\/\*\*|export |declare |import |interface |type )/m)
  for (const [index, statement] of statements.entries()) {
    const before = statements[index - 1] ?? ''
    addStatement(module, statement, before.startsWith('/**') ? before : '', placeOf)
  }
  return module
}

function addStatement(
  module: Module,
  statement: string,
  comment: string,
  placeOf: (specifier: string) => string,
): void {
  const all = /^export (?:type )?\* from '([^']+)'/.exec(statement)
  const list = /^(import|export) (?:type )?\{([^}]*)\} from '([^']+)'/.exec(statement)
  const declared =
    /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|function|const|let|enum) ([A-Za-z_$][\w$]*)/.exec(
      statement,
    )
  if (all?.[1] !== undefined) module.everythingOf.push(placeOf(all[1]))
  else if (list) {
    const [, kind, names = '', from = ''] = list
    for (const [, name = '', alias = name] of names.matchAll(/(?:type )?([\w$]+)(?: as ([\w$]+))?/g)) {
      const link = { from: placeOf(from), name }
      ;(kind === 'import' ? module.imported : module.reexported).set(alias, link)
    }
  } else if (declared?.[1] !== undefined) {
    const bare = statement.replace(/^export /, '').trimEnd()
    const text = /^(interface|type|declare) /.test(bare) ? bare : `declare ${bare}`
    // Overloads of a function.
    const before = module.declared.get(declared[1])
    module.declared.set(declared[1], `${before === undefined ? '' : `${before}\n`}${comment}${text}`)
  }
}

/** Names in a declaration that may refer to other declarations: no members, no parameters. */
function identifiersOf(text: string): Set<string> {
  const bare = text.replaceAll(/\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, '')
  return new Set([...bare.matchAll(/(?<![.\w$#])[A-Za-z_$][\w$]*(?!\??:|\(|[\w$])/g)].map(([name]) => name))
}
