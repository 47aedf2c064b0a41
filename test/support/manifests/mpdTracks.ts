// In charge of: the tracks of an MPD as an independent parser reads them.
// Not in charge of: expectations.
import { parse, type ParsedPlaylist } from 'mpd-parser'

export const HOST = 'http://host/'

/** By representation id. */
export function parseMpdTracks(text: string): Map<string, ParsedPlaylist> {
  const { playlists, mediaGroups } = parse(text, { manifestUri: `${HOST}manifest.mpd` })
  const audio = Object.values(mediaGroups.AUDIO).flatMap((group) =>
    Object.values(group).flatMap((one) => one.playlists),
  )
  return new Map([...playlists, ...audio].map((playlist) => [playlist.attributes.NAME, playlist]))
}
