// In charge of: parts of the contract that the transcoder never loads: only the Worker validates requests.
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../../..')
const { imports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  imports: Record<string, string>
}
const CONTRACT = join(ROOT, imports['#contract/*']!.slice(0, -1))

/** Files that are loaded at run time with this one; type imports are already removed. */
async function loadedBy(file: string, found = new Set<string>()): Promise<Set<string>> {
  if (found.has(file)) return found
  found.add(file)
  const text = await readFile(file, 'utf8')
  for (const [, names = '', from = ''] of text.matchAll(
    /^(?:import|export) (?!type )([^'()]*?)(?:from )?'([^']+)'/gm,
  )) {
    const isType = names.startsWith('{') && names.slice(1, names.indexOf('}')).split(',').every(isTypeOnly)
    if (isType || !/^(?:#contract\/|\.)/.test(from)) continue
    const target = from.startsWith('#contract/')
      ? join(CONTRACT, from.slice('#contract/'.length))
      : resolve(dirname(file), from)
    await loadedBy(target, found)
  }
  return found
}

function isTypeOnly(name: string): boolean {
  return name.trim() === '' || name.trim().startsWith('type ')
}

test('the transcoder loads the translation of a job, and neither its validation nor the reading of keys', async () => {
  const loaded = await loadedBy(join(ROOT, 'transcoder/pipeline/runTask.ts'))
  const texts = await Promise.all([...loaded].map((file) => readFile(file, 'utf8')))
  const exported = ['toSpec', 'validateJob', 'readCredentials', 'readStoreKey', 'readPem', 'md5']
  const found = exported.filter((name) => texts.some((text) => text.includes(`export function ${name}(`)))
  expect(found).toEqual(['toSpec'])
})
