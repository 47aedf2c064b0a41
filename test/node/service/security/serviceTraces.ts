// In charge of: everything that a running service leaves where others can read it: files, arguments and environments.
// Not in charge of: what must not be in it.
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { childrenOf } from '../../../../scripts/local/processes/processGroup.ts'

/** Every file below, by its relative path. Files that are deleted meanwhile are left out. */
export async function readFilesBelow(root: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true })
  const files = new Map<string, Buffer>()
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path).catch(() => null)
    if (bytes) files.set(relative(root, path), bytes)
  }
  return files
}

/** Reads /proc of all descendants of a process repeatedly until it is disposed. */
export class ProcessWatcher {
  /** `<program> cmdline|environ` and the bytes, each once. */
  readonly seen = new Map<string, Buffer>()
  readonly #timer: NodeJS.Timeout
  readonly #root: number
  constructor(root: number) {
    this.#root = root
    this.#timer = setInterval(() => this.#look(this.#root), 40)
  }

  programs(): Set<string> {
    return new Set([...this.seen.keys()].map((name) => name.split(' ')[0] ?? ''))
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #look(parent: number): void {
    for (const { pid, program } of childrenOf(parent)) {
      for (const what of ['cmdline', 'environ']) {
        try {
          const bytes = readFileSync(`/proc/${pid}/${what}`)
          this.seen.set(`${program} ${what} ${bytes.toString('latin1')}`, bytes)
        } catch {
          // It ended meanwhile.
        }
      }
      this.#look(pid)
    }
  }
}
