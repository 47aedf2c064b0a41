// In charge of: what a release says about itself: the packages that it consists of (CycloneDX 1.6), their licences, and where its
// files come from (SLSA provenance 1.0). The same tag gives the same bytes.
// Not in charge of: the files (../release.ts), the packages of Debian in the image (packages.txt).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../local/localSettings.ts'

/** Packages of development whose code is in the documentation's site. */
const IN_DOCS = /^(?:vitepress|vue|@vue\/.*|@vueuse\/.*|minisearch|mark\.js|focus-trap|tabbable)$/

interface LockEntry {
  version: string
  dev?: true
  license?: string
  os?: string[]
  cpu?: string[]
}

interface Bom {
  metadata: { timestamp: string; component: { name: string; 'bom-ref': string } }
  components: { name: string; version: string; 'bom-ref': string }[]
  dependencies: { ref: string; dependsOn: string[] }[]
  [name: string]: unknown
}

export interface Origin {
  version: string
  commit: string
  /** Seconds since 1970. */
  time: number
}

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const nameOf = (path: string): string => path.split('node_modules/').at(-1)!

/** What is shipped, by its path below the root, in the order of the names. */
async function shipped(): Promise<[path: string, entry: LockEntry][]> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && (dev !== true || IN_DOCS.test(nameOf(path))))
    .toSorted(([one], [other]) => (nameOf(one) < nameOf(other) ? -1 : 1))
}

/** npm's own list of the lockfile, which is the same on every platform, without what is not shipped. */
export async function sbom({ commit, time }: Origin): Promise<string> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 64e6 })
  const all = JSON.parse(stdout) as Bom
  const kept = new Set((await shipped()).map(([path, { version }]) => `${nameOf(path)}@${version}`))
  const components = all.components.filter(({ name, version }) => kept.has(`${name}@${version}`))
  const own = all.metadata.component['bom-ref']
  const refs = new Set([own, ...components.map((each) => each['bom-ref'])])
  const hex = sha256(`${commit} sbom`)
  return `${JSON.stringify(
    {
      ...all,
      $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
      specVersion: '1.6',
      serialNumber: `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
      metadata: {
        ...all.metadata,
        timestamp: new Date(time * 1000).toISOString(),
        component: { ...all.metadata.component, name: 'splicepoint' },
      },
      components,
      dependencies: all.dependencies
        .filter(({ ref }) => refs.has(ref))
        .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
    },
    null,
    1,
  )}\n`
}

/** The licence of the repository and of each package, with its text. Builds for one platform have that of their package. */
export async function licences(): Promise<string> {
  const parts = [`Splicepoint\n\n${await readFile(join(ROOT, 'LICENSE'), 'utf8')}`]
  for (const [path, { version, license = 'not stated in its package.json', os, cpu }] of await shipped()) {
    const head = `${nameOf(path)} ${version}: ${license}`
    const texts: string[] = []
    // What another platform needs is not installed here.
    const names = os === undefined && cpu === undefined ? await readdir(join(ROOT, path)).catch(() => []) : []
    for (const name of names.toSorted())
      if (/^(?:licen[cs]e|copying|notice)/i.test(name)) texts.push(await readFile(join(ROOT, path, name), 'utf8'))
    parts.push([head, ...texts.map((text) => text.trim())].join('\n\n'))
  }
  return `${parts.map((part) => part.trim()).join(`\n\n${'='.repeat(80)}\n\n`)}\n`
}

/** @param files name and SHA-256 */
export async function provenance(
  { version, commit, time }: Origin,
  files: readonly (readonly [name: string, sum: string])[],
): Promise<string> {
  const repository = 'https://github.com/splicepoint/splicepoint'
  const lockfile = sha256(await readFile(join(ROOT, 'package-lock.json')))
  const at = new Date(time * 1000).toISOString()
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(([name, sum]) => ({ name, digest: { sha256: sum } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/main/scripts/release.ts`,
        externalParameters: { version },
        internalParameters: { node: process.version },
        resolvedDependencies: [
          { uri: `git+${repository}@refs/tags/v${version}`, digest: { gitCommit: commit } },
          { uri: 'package-lock.json', digest: { sha256: lockfile } },
        ],
      },
      runDetails: { builder: { id: `${repository}#npm-run-release` }, metadata: { startedOn: at } },
    },
  }
  return `${JSON.stringify(statement, null, 1)}\n`
}
