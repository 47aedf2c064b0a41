// In charge of: paths as the URI references of playlists and manifests.
// Not in charge of: which paths there are.

/**
 * A relative path as a URI reference (RFC 3986, 4.2): every element is percent-encoded, so that neither `#`, `?` and spaces
 * nor the `$` of DASH templates nor a quote of HLS attributes can mean anything.
 */
export function encodeUriPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** `file` as seen from `directory`; '' is the presentation's directory. */
export function joinPath(directory: string, file: string): string {
  return directory === '' ? file : `${directory}/${file}`
}

/** The path of `to` as seen from the file `from`; both start at one directory. */
export function relativePath(from: string, to: string): string {
  const source = from.split('/').slice(0, -1)
  const target = to.split('/')
  let common = 0
  while (common < source.length && common < target.length - 1 && source[common] === target[common]) common++
  return [...source.slice(common).map(() => '..'), ...target.slice(common)].join('/')
}
