// In charge of: building the dashboard and the shared pages, web/ → web/dist/site, if a source has changed. wrangler
// runs it before `dev` and `deploy`; the local service and the tests run it before they start.
// Not in charge of: serving them (wrangler.toml, worker/service/dashboardRoutes.ts, worker/shares/sharedPageRoutes.ts).
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCES = [
  'web/src',
  'web/public',
  'web/index.html',
  'web/share.html',
  'web/share-gone.html',
  'contract',
  'package-lock.json',
  'scripts/buildWeb.ts',
  'scripts/openapi',
]
/** The directory that wrangler.toml serves. */
export const SITE = join(ROOT, 'web/dist/site')
const STAMP = join(ROOT, 'web/dist/stamp')

/** One hash over the names and contents of all sources. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of SOURCES) {
    for (const path of await filesOf(join(ROOT, source))) {
      hash.update(`${relative(ROOT, path)}\0`).update(await readFile(path))
    }
  }
  return hash.digest('hex')
}

async function filesOf(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null)
  if (entries === null) return [path]
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}

/** Writes a file atomically, because other processes may read or build the same files at this moment. */
async function put(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true })
  const part = `${path}.${process.pid}.part`
  await writeFile(part, content)
  await rename(part, path)
}

/**
 * A script or stylesheet of the page /docs. Its file name has no hash, because the page that links to it is not built.
 * Styles use the colours of the dashboard.
 */
async function referencePart(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  const [made] = outputFiles
  if (!made) throw new Error(`${entry} was not built`)
  return made.contents
}

/** @returns whether anything had to be built */
export async function buildWeb(): Promise<boolean> {
  const wanted = await fingerprint()
  if ((await readFile(STAMP, 'utf8').catch(() => '')) === wanted) return false
  // Loaded where they are needed: most starts build nothing.
  const { openapi } = await import('./openapi/openapiDocument.ts')
  const { referencePage } = await import('./openapi/referencePage.ts')
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: {
      app: 'web/src/main.tsx',
      style: 'web/src/style/all.css',
      share: 'web/src/share/main.tsx',
      'share-style': 'web/src/share/share.css',
    },
    outdir: SITE,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    assetNames: 'assets/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'external',
    charset: 'utf8',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const made = (source: string) => {
    const found = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === source)
    if (!found) throw new Error(`${source} was not built`)
    return found
  }
  const address = (path: string) => `/${relative(SITE, join(ROOT, path))}`
  /** An HTML page with the addresses of its script and styles. */
  const pageOf = async (name: string, entry: string, styles: string): Promise<string> => {
    const [script, { imports }] = made(entry)
    const eager = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => address(path))
    return (await readFile(join(ROOT, 'web', name), 'utf8'))
      .replace('{{style}}', address(made(styles)[0]))
      .replace('{{script}}', address(script))
      .replace('{{preload}}', eager.map((path) => `<link rel="modulepreload" href="${path}" />`).join('\n    '))
  }
  const files = new Map<string, string | Uint8Array>(outputFiles.map(({ path, contents }) => [path, contents]))
  for (const path of await filesOf(join(ROOT, 'web/public'))) {
    files.set(join(SITE, relative(join(ROOT, 'web/public'), path)), await readFile(path))
  }
  // Written as static files, so that the document does not enlarge the Worker's bundle.
  files.set(join(SITE, 'openapi.json'), JSON.stringify(openapi()))
  files.set(join(SITE, 'docs.html'), referencePage(openapi()))
  files.set(join(SITE, 'docs.css'), await referencePart('scripts/openapi/page.css'))
  files.set(join(SITE, 'docs.js'), await referencePart('web/src/reference/try.ts'))
  // The pages come last, so that they never link to files that do not exist yet.
  for (const name of ['share.html', 'share-gone.html']) {
    files.set(join(SITE, name), await pageOf(name, 'web/src/share/main.tsx', 'web/src/share/share.css'))
  }
  files.set(join(SITE, 'index.html'), await pageOf('index.html', 'web/src/main.tsx', 'web/src/style/all.css'))
  for (const [path, content] of files) await put(path, content)
  for (const path of await filesOf(SITE)) {
    if (!files.has(path) && !path.endsWith('.part')) await rm(path, { force: true })
  }
  await put(STAMP, wanted)
  return true
}

if (import.meta.main) await buildWeb()
