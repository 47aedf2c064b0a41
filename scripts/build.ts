// In charge of: `npm run build [-- worker | web | image | package | docs …]`: what is made of the repository. Default: worker, as
// `npm run deploy` uploads it, in dist/, without an account.
// Not in charge of: how: buildWeb.ts, image.ts, package.ts, docs/.vitepress/config.ts.
import { passTo } from './passTo.ts'

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  worker: 'node_modules/wrangler/bin/wrangler.js deploy --dry-run --containers-rollout=none --outdir dist'.split(' '),
  web: ['scripts/buildWeb.ts'],
  image: ['scripts/image.ts'],
  package: ['scripts/package.ts'],
  docs: ['node_modules/vitepress/bin/vitepress.js', 'build', 'docs'],
}

const [name = 'worker', ...args] = process.argv.slice(2)
const program = PROGRAMS[name]
if (program === undefined) {
  process.stderr.write(`Usage: npm run build [-- ${Object.keys(PROGRAMS).join(' | ')}]\n`)
  process.exitCode = 2
} else passTo([...program, ...args])
