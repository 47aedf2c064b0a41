// In charge of: the location of an object for a manifest: a separate file, or a part of the tar.
// Not in charge of: the layout of the tar (tarLayout.ts).
import type { ByteRange } from './presentation.ts'
import { joinPath, relativePath, encodeUriPath } from './relativeUri.ts'

/** A URI reference and a byte range of it; null = all bytes. */
export interface ObjectLocation {
  uri: string
  range: ByteRange | null
}

/** Locates `file` in the track's `directory`. */
export type ObjectLocator = (directory: string, file: string) => ObjectLocation

/** Separate files, relative to a playlist at `from` (a path below the presentation's directory). */
export function locateFiles(from: string): ObjectLocator {
  return (directory, file) => ({ uri: encodeUriPath(relativePath(from, joinPath(directory, file))), range: null })
}

/** A tar: its name, and the byte range of each file in it, by path below the presentation's directory. */
export interface TarIndex {
  /** Relative to the presentation's directory. */
  name: string
  ranges: ReadonlyMap<string, ByteRange>
}

/** Throws where the tar lacks a file that a manifest needs. */
export function locateInTar(tar: TarIndex): ObjectLocator {
  const uri = encodeUriPath(tar.name)
  return (directory, file) => {
    const path = joinPath(directory, file)
    const range = tar.ranges.get(path)
    if (range === undefined) throw new Error(`The tar has no ${path}.`)
    return { uri, range }
  }
}
