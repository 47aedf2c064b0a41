// In charge of: which groups of long forms have passed, and on which files: test/proven.json has a hash of them for each group.
// Hashes, not commits: a shallow clone has no others.
// Not in charge of: the groups (test/support/longGroups.ts), running them (../test.ts).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LONG_GROUPS, type LongGroup } from '../../test/support/longGroups.ts'
import { ROOT } from '../local/localSettings.ts'

const FILE = join(ROOT, 'test', 'proven.json')

/** Hash of all files of the repository that the group covers, and of its tests. */
async function hashOf({ tests, covers }: LongGroup): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-z'], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 })
  const isCovered = (path: string): boolean =>
    tests.some((start) => path.startsWith(start)) || covers.some((each) => path === each || path.startsWith(`${each}/`))
  const hash = createHash('sha256')
  for (const path of stdout.split('\0').filter((each) => isCovered(each)))
    hash.update(`${path}\0`).update(await readFile(join(ROOT, path)).catch(() => ''))
  return hash.digest('hex').slice(0, 16)
}

async function readProven(): Promise<Record<string, string>> {
  return JSON.parse(await readFile(FILE, 'utf8').catch(() => '{}')) as Record<string, string>
}

/** Names of groups, in their order. */
export async function unprovenGroups(): Promise<string[]> {
  const proven = await readProven()
  const names: string[] = []
  for (const [name, group] of Object.entries(LONG_GROUPS)) if ((await hashOf(group)) !== proven[name]) names.push(name)
  return names
}

/** The group has passed on the files as they are. */
export async function recordProven(name: string): Promise<void> {
  const proven = { ...(await readProven()), [name]: await hashOf(LONG_GROUPS[name]!) }
  const sorted = Object.fromEntries(Object.entries(proven).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  await writeFile(FILE, `${JSON.stringify(sorted, null, 2)}\n`)
}
