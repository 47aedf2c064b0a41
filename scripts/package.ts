// In charge of: the npm packages of the command and of the client (`npm run build -- package`): dist/npm, without dependencies. The
// command is for any Node from 20 on, the client also for browsers, with import and require.
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
const CLI = join(OUT, 'splicepoint')
const CLIENT = join(OUT, 'client')
const NODE = '20'

const { version, license } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<string, string>

async function bundlePrograms(): Promise<void> {
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
      outdir: CLI,
      format: 'esm',
      banner: { js: '#!/usr/bin/env node' },
    }),
    build({ ...node, entryPoints: { client: 'client/index.ts' }, outdir: CLIENT, format: 'esm' }),
    build({ ...node, entryPoints: { client: 'client/index.ts' }, outdir: join(CLIENT, 'cjs'), format: 'cjs' }),
    build({
      ...common,
      platform: 'browser',
      target: 'es2022',
      entryPoints: { browser: 'client/browser.ts' },
      outdir: CLIENT,
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
  await mkdir(join(CLIENT, 'cjs'), { recursive: true })
  await writeFile(join(CLIENT, 'client.d.ts'), forNode)
  await writeFile(join(CLIENT, 'cjs/client.d.ts'), forNode)
  await writeFile(join(CLIENT, 'browser.d.ts'), await declarationsOf('browser'))
}

async function complete(directory: string, readme: string, manifest: object): Promise<void> {
  const common = { version, license, type: 'module', engines: { node: `>=${NODE}` } }
  await writeFile(join(directory, 'package.json'), `${JSON.stringify({ ...manifest, ...common }, null, 2)}\n`)
  await cp(join(ROOT, readme), join(directory, 'README.md'))
  await cp(join(ROOT, 'LICENSE'), join(directory, 'LICENSE'))
}

async function makePackages(): Promise<void> {
  await rm(OUT, { recursive: true, force: true })
  await bundlePrograms()
  await writeDeclarations()
  await complete(CLI, 'cli/README.md', {
    name: 'splicepoint',
    description: 'Command-line tool of Splicepoint, the media transcoding service.',
    keywords: ['video', 'transcoding', 'hls', 'dash', 'ffmpeg', 'cli'],
    bin: { splicepoint: './splicepoint.js', transcode: './splicepoint.js' },
    files: ['*.js'],
  })
  const browser = { types: './browser.d.ts', default: './browser.js' }
  await complete(CLIENT, 'client/README.md', {
    name: '@splicepoint/client',
    description: 'Typed client of Splicepoint, the media transcoding service.',
    keywords: ['video', 'transcoding', 'hls', 'dash', 'ffmpeg', 'upload', 'tus'],
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
  })
  await writeFile(join(CLIENT, 'cjs/package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`)
}

/** The directory for the archives. Default: the current directory. */
const [destination = process.env['INIT_CWD'] ?? process.cwd()] = process.argv.slice(2)
await makePackages()
const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination, CLI, CLIENT], { cwd: ROOT })
for (const { filename } of JSON.parse(stdout) as { filename: string }[])
  process.stdout.write(`${join(destination, filename)}\n`)
