// In charge of: where a manifest finds an object: as a file of its own, or inside of the tar.
// Not in charge of: how the tar is laid out (the tar writer says it).
import type { ByteRange } from './presentation.ts'
import { joinPath, relativePath, encodeUriPath } from './relativeUri.ts'

/** A URI reference, and the bytes of it that are meant; null = all of them. */
export interface ObjectLocation {
  uri: string
  span: ByteRange | null
}

/** Finds `file` of the track's `directory`. */
export type ObjectLocator = (directory: string, file: string) => ObjectLocation

/** Files as they lie, seen from a playlist at `from` (a path below the presentation's directory). */
export function locateFiles(from: string): ObjectLocator {
  return (directory, file) => ({ uri: encodeUriPath(relativePath(from, joinPath(directory, file))), span: null })
}

/** A tar: its name, and where each file's content lies in it, by path below the presentation's directory. */
export interface TarIndex {
  /** Relative to the presentation's directory. */
  name: string
  spans: ReadonlyMap<string, ByteRange>
}

/** Throws where the tar does not have a file that a manifest would name. */
export function locateInTar(tar: TarIndex): ObjectLocator {
  const uri = encodeUriPath(tar.name)
  return (directory, file) => {
    const path = joinPath(directory, file)
    const span = tar.spans.get(path)
    if (span === undefined) throw new Error(`The tar has no ${path}.`)
    return { uri, span }
  }
}
