// In charge of: playlists that address the contents of a tar by byte ranges, so that it can be played directly.
// Not in charge of: the MPD of the tar (mpd.ts), its bytes (tarLayout.ts).
import type { WrittenObject } from '#contract/task/protocol.ts'
import { tarDashManifest } from '../dash/mpd.ts'
import { MPD_TYPE, PLAYLIST_TYPE } from '../manifestObjects.ts'
import { iframePlaylist, mediaPlaylist } from '../hls/mediaPlaylist.ts'
import { multivariantPlaylist, type PlaylistNames } from '../hls/multivariantPlaylist.ts'
import type { AudioTrack, Presentation, TextTrack, VideoTrack } from '../presentation/presentation.ts'
import { locateInTar, type TarIndex } from '../presentation/objectLocation.ts'

/** In the same directory as the tar. Thumbnails are left out: image playlists have no byte ranges. */
const NAMES: PlaylistNames = {
  media: tarPlaylistName,
  keyFrames: ({ id }) => `tar_${id}_iframes.m3u8`,
  images: () => null,
}

export function tarPlaylistName({ id }: Pick<VideoTrack | AudioTrack | TextTrack, 'id'>): string {
  return `tar_${id}.m3u8`
}

/** `tar.m3u8`. */
export function tarMasterPlaylist(presentation: Presentation): string {
  return multivariantPlaylist(presentation, NAMES)
}

/** `tar_<id>.m3u8`. Throws where the tar lacks one of the track's files. */
export function tarMediaPlaylist(
  track: VideoTrack | AudioTrack | TextTrack,
  presentation: Presentation,
  tar: TarIndex,
): string {
  return mediaPlaylist(track, presentation, locateInTar(tar))
}

/**
 * All manifests of a tar. They are stored in the same directory as the tar; paths are relative to the presentation's
 * directory.
 */
export function tarDocuments(
  presentation: Presentation,
  tar: TarIndex,
  wanted: { hls: boolean; dash: boolean },
): WrittenObject[] {
  const { video, audio, text } = presentation
  const media = (path: string, profile: number | null, body: string): WrittenObject => {
    return { path, content_type: PLAYLIST_TYPE, profile, role: 'playlist', body, stage: 1 }
  }
  const last = (path: string, type: string, role: 'playlist' | 'manifest', body: string): WrittenObject => {
    return { path, content_type: type, profile: null, role, body, stage: 2 }
  }
  const hls = () => [
    ...[...video, ...audio, ...text].map((track) => {
      const profile = track.kind === 'video' ? track.profile : null
      return media(NAMES.media(track), profile, tarMediaPlaylist(track, presentation, tar))
    }),
    ...video
      .filter(({ keyFrames }) => keyFrames.length > 0)
      .map((track) => {
        const body = iframePlaylist(track, presentation, locateInTar(tar))
        return media(`tar_${track.id}_iframes.m3u8`, track.profile, body)
      }),
    last('tar.m3u8', PLAYLIST_TYPE, 'playlist', tarMasterPlaylist(presentation)),
  ]
  return [
    ...(wanted.hls ? hls() : []),
    ...(wanted.dash ? [last('tar.mpd', MPD_TYPE, 'manifest', tarDashManifest(presentation, tar))] : []),
  ]
}
