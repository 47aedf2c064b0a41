// In charge of: the size of the deployed Worker, and its largest modules.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { ROOT } from '../../scripts/local/localSettings.ts'
import type { BenchOptions, Row } from '../table.ts'

const run = promisify(execFile)
const GOAL_KB = 150
const LARGEST = 12

interface Metafile {
  outputs: Record<string, { bytes: number; inputs: Record<string, { bytesInOutput: number }> }>
}

export async function bundle({ note }: BenchOptions): Promise<Row[]> {
  const wrangler = join(dirname(createRequire(import.meta.url).resolve('wrangler/package.json')), 'bin', 'wrangler.js')
  const directory = await mkdtemp(join(tmpdir(), 'splicepoint-bench-bundle-'))
  try {
    const args = ['deploy', '--dry-run', '--containers-rollout=none', '--minify', '--metafile', '--outdir', directory]
    await run(process.execPath, [wrangler, ...args], {
      cwd: ROOT,
      env: { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: join(directory, 'log') },
    })
    const code = await readFile(join(directory, 'index.js'))
    const metafile = JSON.parse(await readFile(join(directory, 'bundle-meta.json'), 'utf8')) as Metafile
    const modules = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs))
    for (const [owner, bytes] of largest(modules)) note(`${kilobytes(bytes).padStart(9)}  ${owner}`)
    return [
      {
        name: 'Worker, minified',
        ours: kilobytes(code.length),
        baseline: '–',
        ratio: null,
        goal: `≤ ${GOAL_KB} kB`,
        goalMet: code.length <= GOAL_KB * 1000,
      },
      {
        name: 'Worker, minified and gzipped',
        ours: kilobytes(gzipSync(code, { level: 9 }).length),
        baseline: '–',
        ratio: null,
        goal: '–',
        goalMet: null,
      },
    ]
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Sums by package, and by folder for the project's own code. */
function largest(modules: [string, { bytesInOutput: number }][]): [string, number][] {
  const sums = new Map<string, number>()
  for (const [path, { bytesInOutput }] of modules) {
    const owner = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? dirname(path)
    sums.set(owner, (sums.get(owner) ?? 0) + bytesInOutput)
  }
  return [...sums].toSorted((a, b) => b[1] - a[1]).slice(0, LARGEST)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
