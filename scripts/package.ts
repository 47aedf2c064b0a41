// In charge of: the package of the command and the client (`npm run pack`): dist/npm, which needs no other package and any Node
// from 20 on. Types come from what `tsc -b` writes.
// Not in charge of: publishing it.
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..')
const OUT = join(ROOT, 'dist/npm')
const NODE = '20'

/** Declarations in one tree, with the specifiers that consumers without TypeScript's sources can follow. */
async function declarations(): Promise<void> {
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', 'client'], { cwd: ROOT })
  for (const [from, to] of [
    ['.tsbuild/client/client', 'types/client'],
    ['.tsbuild/contract/worker/contract', 'types/contract'],
  ] as const) {
    await mkdir(join(OUT, to), { recursive: true })
    for (const name of (await readdir(join(ROOT, from))).filter((each) => each.endsWith('.d.ts'))) {
      const text = await readFile(join(ROOT, from, name), 'utf8')
      const portable = text
        .replaceAll(/'#contract\/([\w-]+)\.ts'/g, to === 'types/contract' ? "'./$1.js'" : "'../contract/$1.js'")
        .replaceAll(/'(\.[\w./-]+)\.ts'/g, "'$1.js'")
      await writeFile(join(OUT, to, name), portable)
    }
  }
}

/** @returns the directory of the package */
async function makePackage(): Promise<string> {
  await rm(OUT, { recursive: true, force: true })
  await build({
    absWorkingDir: ROOT,
    entryPoints: { splicepoint: 'cli/main.ts', client: 'client/index.ts' },
    outdir: OUT,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: `node${NODE}`,
    banner: { js: '#!/usr/bin/env node' },
    logLevel: 'silent',
  })
  await declarations()
  const { name, version, license, dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license: string
    dependencies: Record<string, string>
  }
  const manifest = {
    name,
    version,
    description: 'Command and typed client of Splicepoint, the media transcoding service.',
    license,
    type: 'module',
    bin: { splicepoint: './splicepoint.js', transcode: './splicepoint.js' },
    exports: { '.': { types: './types/client/index.d.ts', default: './client.js' } },
    engines: { node: `>=${NODE}` },
    // Of types alone: without it, the configuration of a job is any.
    peerDependencies: { zod: dependencies['zod'] },
    peerDependenciesMeta: { zod: { optional: true } },
  }
  await writeFile(join(OUT, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await cp(join(ROOT, 'docs/cli.md'), join(OUT, 'README.md'))
  await cp(join(ROOT, 'LICENSE'), join(OUT, 'LICENSE'))
  return OUT
}

/** Where the archive goes; else the current directory. */
const [destination = process.env['INIT_CWD'] ?? process.cwd()] = process.argv.slice(2)
const pack = ['pack', '--json', '--pack-destination', destination, await makePackage()]
const { stdout } = await run('npm', pack, { cwd: ROOT })
const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
process.stdout.write(`${join(destination, filename)}\n`)
