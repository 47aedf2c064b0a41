// In charge of: the npm package of the command and the client (`npm run build -- package`): dist/npm, without dependencies, for any
// Node from 20 on and for browsers, with import and require.
// Not in charge of: its types (package/), publishing it.
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build, type BuildOptions } from 'esbuild'
import { contractTypes } from './package/contractTypes.ts'
import { flatDeclarations } from './package/flatDeclarations.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..')
const OUT = join(ROOT, 'dist/npm')
const NODE = '20'

interface Manifest {
  name: string
  version: string
  license: string
}

async function bundlePrograms({ version }: Manifest): Promise<void> {
  const common: BuildOptions = {
    absWorkingDir: ROOT,
    bundle: true,
    logLevel: 'silent',
    define: { SPLICEPOINT_VERSION: JSON.stringify(version) },
  }
  const node: BuildOptions = { ...common, platform: 'node', target: `node${NODE}` }
  await Promise.all([
    build({
      ...node,
      entryPoints: { splicepoint: 'cli/main.ts' },
      outdir: OUT,
      format: 'esm',
      banner: { js: '#!/usr/bin/env node' },
    }),
    build({ ...node, entryPoints: { client: 'client/index.ts' }, outdir: OUT, format: 'esm' }),
    build({ ...node, entryPoints: { client: 'client/index.ts' }, outdir: join(OUT, 'cjs'), format: 'cjs' }),
    build({
      ...common,
      platform: 'browser',
      target: 'es2022',
      entryPoints: { browser: 'client/browser.ts' },
      outdir: OUT,
      format: 'esm',
    }),
  ])
}

async function writeDeclarations(): Promise<void> {
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', 'client'], { cwd: ROOT })
  const places = { contract: join(ROOT, '.tsbuild/contract/contract'), replaced: contractTypes() }
  const declarationsOf = (entry: string): Promise<string> =>
    flatDeclarations(join(ROOT, '.tsbuild/client/client', `${entry}.d.ts`), places)
  const forNode = await declarationsOf('index')
  await mkdir(join(OUT, 'cjs'), { recursive: true })
  await writeFile(join(OUT, 'client.d.ts'), forNode)
  await writeFile(join(OUT, 'cjs/client.d.ts'), forNode)
  await writeFile(join(OUT, 'browser.d.ts'), await declarationsOf('browser'))
}

/** @returns the directory of the package */
async function makePackage(): Promise<string> {
  await rm(OUT, { recursive: true, force: true })
  const root = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const { name, version, license } = root
  await bundlePrograms(root)
  await writeDeclarations()
  const browser = { types: './browser.d.ts', default: './browser.js' }
  const manifest = {
    name,
    version,
    description: 'Command-line tool and typed client of Splicepoint, the media transcoding service.',
    keywords: ['video', 'transcoding', 'hls', 'dash', 'ffmpeg', 'upload', 'tus'],
    license,
    type: 'module',
    bin: { splicepoint: './splicepoint.js', transcode: './splicepoint.js' },
    main: './cjs/client.js',
    module: './client.js',
    types: './client.d.ts',
    exports: {
      '.': {
        browser,
        import: { types: './client.d.ts', default: './client.js' },
        require: { types: './cjs/client.d.ts', default: './cjs/client.js' },
      },
      './browser': browser,
      './package.json': './package.json',
    },
    sideEffects: false,
    files: ['*.js', '*.d.ts', 'cjs'],
    engines: { node: `>=${NODE}` },
  }
  await writeFile(join(OUT, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await writeFile(join(OUT, 'cjs/package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`)
  await cp(join(ROOT, 'client/README.md'), join(OUT, 'README.md'))
  await cp(join(ROOT, 'LICENSE'), join(OUT, 'LICENSE'))
  return OUT
}

/** The directory for the archive. Default: the current directory. */
const [destination = process.env['INIT_CWD'] ?? process.cwd()] = process.argv.slice(2)
const pack = ['pack', '--json', '--pack-destination', destination, await makePackage()]
const { stdout } = await run('npm', pack, { cwd: ROOT })
const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
process.stdout.write(`${join(destination, filename)}\n`)
