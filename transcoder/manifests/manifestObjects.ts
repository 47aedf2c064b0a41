// In charge of: all playlists and manifests of a presentation, as objects to be uploaded at the commit.
// Not in charge of: their text (hls/, dash/, smoothManifest.ts).
import type { WrittenObject } from '#contract/task/protocol.ts'
import { dashManifest } from './dash/mpd.ts'
import {
  iframePlaylist,
  iframePlaylistPath,
  imagePlaylist,
  imagePlaylistPath,
  mediaPlaylist,
  playlistPath,
} from './hls/mediaPlaylist.ts'
import { multivariantPlaylist } from './hls/multivariantPlaylist.ts'
import type { Presentation, Segment } from './presentation/presentation.ts'

/** RFC 8216bis, 4. */
export const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl'
/** ISO/IEC 23009-1, annex C. */
export const MPD_TYPE = 'application/dash+xml'

/**
 * Paths are relative to the presentation's directory. The multivariant playlist comes last, so that it is uploaded
 * last.
 */
export function hlsObjects(presentation: Presentation): WrittenObject[] {
  const { video, audio, text, thumbnails } = presentation
  return [
    ...video.flatMap((track) => [
      media(playlistPath(track), mediaPlaylist(track, presentation), track.profile, track.segments),
      ...(track.keyFrames.length === 0
        ? []
        : [media(iframePlaylistPath(track), iframePlaylist(track, presentation), track.profile, null)]),
    ]),
    ...audio.map((track) => media(playlistPath(track), mediaPlaylist(track, presentation), null, track.segments)),
    ...text.map((track) => media(playlistPath(track), mediaPlaylist(track, presentation), null, track.segments)),
    ...(thumbnails === null || thumbnails.sheets.length === 0
      ? []
      : [media(imagePlaylistPath(thumbnails), imagePlaylist(thumbnails, presentation), null, thumbnails.sheets)]),
    {
      path: 'master.m3u8',
      content_type: PLAYLIST_TYPE,
      profile: null,
      role: 'playlist',
      body: multivariantPlaylist(presentation),
      stage: 2,
    },
  ]
}

/** `manifest.mpd`, the only text file of DASH. */
export function dashObjects(presentation: Presentation): WrittenObject[] {
  const body = dashManifest(presentation)
  return [{ path: 'manifest.mpd', content_type: MPD_TYPE, profile: null, role: 'manifest', body, stage: 2 }]
}

function media(path: string, body: string, profile: number | null, segments: readonly Segment[] | null): WrittenObject {
  const bytes = segments?.reduce((sum, segment) => sum + segment.bytes, 0) ?? 0
  return {
    path,
    content_type: PLAYLIST_TYPE,
    profile,
    role: 'playlist',
    body,
    stage: 1,
    ...(segments === null ? {} : { segments: { count: segments.length, bytes } }),
  }
}
