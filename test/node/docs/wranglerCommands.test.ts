// docs/operating.md against wrangler itself: each of its commands and flags exists.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { sampled } from '../../support/longForm.ts'
import { ROOT } from '../../support/service.ts'

const run = promisify(execFile)
const text = await readFile(join(ROOT, 'docs/operating.md'), 'utf8')

/**
 * Flags by command: `d1 migrations apply` → `--remote`. wrangler takes seconds to start, so each command is asked once.
 */
const commands = new Map<string, Set<string>>()
for (const [, line] of text.matchAll(/(?:npx wrangler|npm run cloudflare --) ([^`\n]+)/g)) {
  const words = line!.replaceAll(/=\S+|--environment \w+ /g, '').split(' ')
  // A placeholder, and the one command that is not wrangler's.
  if (words[0] === 'COMMAND' || words[0] === 'config') continue
  const name = words.filter((word) => /^[a-z]/.test(word) && !/^splicepoint|\./.test(word)).join(' ')
  const flags = commands.get(name) ?? commands.set(name, new Set()).get(name)!
  for (const word of words) if (word.startsWith('--')) flags.add(word)
}

it('has commands', () => {
  expect(commands.size).toBeGreaterThan(8)
})

it.each(sampled([...commands], 5))('wrangler %s', async (name, flags) => {
  const cli = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
  const env = { ...process.env, NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false', CI: '1' }
  const { stdout } = await run(process.execPath, [cli, ...name.split(' '), '--help'], { cwd: ROOT, env })
  // Usage line: "wrangler d1 create <name>". For an unknown command wrangler shows the group that would contain it.
  expect(/^wrangler ([^<[\n]*)/m.exec(stdout)?.[1]?.trim()).toBe(name)
  for (const flag of flags) expect(stdout).toMatch(new RegExp(`[\\s,]${flag}[\\s,]`))
})
