// In charge of: converting paths to the URI references of playlists and manifests.
// Not in charge of: choosing the paths.

/**
 * A relative path as a URI reference (RFC 3986, 4.2). Every segment is percent-encoded, so that `#`, `?`, spaces, the
 * `$` of DASH templates and the quotes of HLS attributes lose their special meaning.
 */
export function encodeUriPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** The path of `file` in `directory`; '' is the presentation's directory. */
export function joinPath(directory: string, file: string): string {
  return directory === '' ? file : `${directory}/${file}`
}

/** The path of `to` relative to the file `from`. Both are relative to the same directory. */
export function relativePath(from: string, to: string): string {
  const source = from.split('/').slice(0, -1)
  const target = to.split('/')
  let common = 0
  while (common < source.length && common < target.length - 1 && source[common] === target[common]) common++
  return [...source.slice(common).map(() => '..'), ...target.slice(common)].join('/')
}
