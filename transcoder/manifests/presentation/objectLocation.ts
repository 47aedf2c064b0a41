// In charge of: where a manifest finds an object: as a file of its own, or inside of the tar.
// Not in charge of: how the tar is laid out (the tar writer says it).
import type { ByteSpan } from './presentation.ts'
import { joinPath, relativePath, uriOf } from './relativeUri.ts'

/** A URI reference, and the bytes of it that are meant; null = all of them. */
export interface Place {
  uri: string
  span: ByteSpan | null
}

/** Finds `file` of the track's `directory`. */
export type Locate = (directory: string, file: string) => Place

/** Files as they lie, seen from a playlist at `from` (a path below the presentation's directory). */
export function filesFrom(from: string): Locate {
  return (directory, file) => ({ uri: uriOf(relativePath(from, joinPath(directory, file))), span: null })
}

/** A tar: its name, and where each file's content lies in it, by path below the presentation's directory. */
export interface TarIndex {
  /** Relative to the presentation's directory. */
  name: string
  spans: ReadonlyMap<string, ByteSpan>
}

/** Throws where the tar does not have a file that a manifest would name. */
export function filesInTar(tar: TarIndex): Locate {
  const uri = uriOf(tar.name)
  return (directory, file) => {
    const path = joinPath(directory, file)
    const span = tar.spans.get(path)
    if (span === undefined) throw new Error(`The tar has no ${path}.`)
    return { uri, span }
  }
}
