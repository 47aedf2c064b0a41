// In charge of: reading media playlists as a player does, as far as tests need it.
// Not in charge of: whether they are correct.

export interface ListedSegment {
  uri: string
  /** null = the whole object. */
  range: { offset: number; bytes: number } | null
}

/** Init segments and segments in the order in which a player appends them. */
export function listSegments(playlist: string): ListedSegment[] {
  const listed: ListedSegment[] = []
  let map = ''
  let range: ListedSegment['range'] = null
  let end = 0
  const parse = (text: string, from: number): ListedSegment['range'] => {
    const [bytes, offset] = text.split('@').map(Number)
    return { bytes: bytes!, offset: offset ?? from }
  }
  for (const line of playlist.split('\n')) {
    if (line.startsWith('#EXT-X-MAP:') && line !== map) {
      map = line
      const own = /BYTERANGE="([^"]+)"/.exec(line)
      listed.push({ uri: /URI="([^"]+)"/.exec(line)![1]!, range: own ? parse(own[1]!, 0) : null })
    } else if (line.startsWith('#EXT-X-BYTERANGE:')) {
      range = parse(line.slice(17), end)
      end = range!.offset + range!.bytes
    } else if (line !== '' && !line.startsWith('#')) {
      listed.push({ uri: line, range })
      range = null
    }
  }
  return listed
}
