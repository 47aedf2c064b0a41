// In charge of: media playlists (RFC 8216bis, 4.4.2 to 4.4.5) of video, audio, text, key frames, and thumbnail sheets.
// Not in charge of: the multivariant playlist (multivariantPlaylist.ts), the list of files (manifestObjects.ts).
import { cueTags } from './cueTags.ts'
import { date, decimal, playlist, quoted, seconds, tag } from './playlistSyntax.ts'
import type {
  AudioTrack,
  ByteRange,
  Presentation,
  TextTrack,
  ThumbnailTrack,
  VideoTrack,
} from '../presentation/presentation.ts'
import { locateFiles, type ObjectLocator, type ObjectLocation } from '../presentation/objectLocation.ts'
import { presentationTargetDuration, segmentDurations, targetDuration } from '../presentation/segmentBitrates.ts'
import { joinPath } from '../presentation/relativeUri.ts'

/** Path of a track's media playlist, relative to the presentation's directory. */
export function playlistPath({ directory }: { directory: string }): string {
  return joinPath(directory, 'playlist.m3u8')
}

export function iframePlaylistPath({ directory }: VideoTrack): string {
  return joinPath(directory, 'iframes.m3u8')
}

export function imagePlaylistPath({ directory }: ThumbnailTrack): string {
  return joinPath(directory, 'images.m3u8')
}

/**
 * EXT-X-VERSION (RFC 8216bis, 8): 3 = decimal EXTINF, 4 = byte ranges and key frames, 5 = their EXT-X-MAP, 6 = any
 * other EXT-X-MAP.
 */
const VERSION = { plain: 3, ranges: 4, mappedKeyFrames: 5, mapped: 6 } as const

/** Times in this playlist are the track's. Cues and dates use the presentation's times. */
export function mediaPlaylist(
  track: VideoTrack | AudioTrack | TextTrack,
  presentation: Presentation,
  locate: ObjectLocator = locateFiles(playlistPath(track)),
): string {
  const { timescale, segments, directory } = track
  const init = track.kind === 'text' || track.init === null ? null : locate(directory, track.init.uri)
  const locations = segments.map(({ uri }) => locate(directory, uri))
  const ranged = locations.some(({ range }) => range !== null)
  const durations = segmentDurations(track)
  const starts = segments.map(({ start }) => start / timescale)
  const cues = track.kind === 'text' ? segments.map(() => []) : cueTags(presentation, starts)
  // RFC 8216bis, 6.2.4: subtitles may have their own target duration.
  const target = track.kind === 'text' ? targetDuration([track]) : presentationTargetDuration(presentation)
  return playlist([
    ...playlistHeader(init !== null ? VERSION.mapped : ranged ? VERSION.ranges : VERSION.plain, target),
    // 4.4.2.1: every segment begins with a key frame. Audio samples and text files are always independent.
    '#EXT-X-INDEPENDENT-SEGMENTS',
    init === null ? null : mapTag(init),
    ...locations.flatMap((location, at) => [
      at === 0 ? dateTag(presentation, starts[0]!) : null,
      ...cues[at]!,
      `#EXTINF:${decimal(durations[at]!)},`,
      location.range === null ? null : rangeTag(location.range),
      location.uri,
    ]),
    '#EXT-X-ENDLIST',
  ])
}

/** A playlist of key frames only (4.4.3.6), for seeking with images. Each lasts until the next one. */
export function iframePlaylist(
  track: VideoTrack,
  presentation: Presentation,
  locate: ObjectLocator = locateFiles(iframePlaylistPath(track)),
): string {
  const { timescale, keyFrames, directory } = track
  const init = track.init === null ? null : locate(directory, track.init.uri)
  const frames = { timescale, segments: keyFrames }
  const durations = segmentDurations(frames)
  return playlist([
    ...playlistHeader(init === null ? VERSION.ranges : VERSION.mappedKeyFrames, targetDuration([frames])),
    '#EXT-X-I-FRAMES-ONLY',
    init === null ? null : mapTag(init),
    ...keyFrames.flatMap((frame, at) => {
      const location = locate(directory, track.segments[frame.segment]!.uri)
      return [
        at === 0 ? dateTag(presentation, frame.start / timescale) : null,
        `#EXTINF:${decimal(durations[at]!)},`,
        rangeTag({ bytes: frame.bytes, offset: (location.range?.offset ?? 0) + frame.offset }),
        location.uri,
      ]
    }),
    '#EXT-X-ENDLIST',
  ])
}

/** Thumbnail sheets in the form that Roku and other players read (EXT-X-IMAGES-ONLY); not part of RFC 8216bis. */
export function imagePlaylist(track: ThumbnailTrack, presentation: Presentation): string {
  const { sheets, directory, width, height, columns, rows, intervalSeconds } = track
  const locate = locateFiles(imagePlaylistPath(track))
  const measured = { timescale: 1000, segments: sheets }
  const durations = segmentDurations(measured)
  const tiles = { RESOLUTION: `${width}x${height}`, LAYOUT: `${columns}x${rows}`, DURATION: seconds(intervalSeconds) }
  return playlist([
    ...playlistHeader(7, targetDuration([measured])),
    '#EXT-X-IMAGES-ONLY',
    ...sheets.flatMap(({ uri, start }, at) => [
      at === 0 ? dateTag(presentation, start / 1000) : null,
      `#EXTINF:${decimal(durations[at]!)},`,
      tag('EXT-X-TILES', tiles),
      locate(directory, uri).uri,
    ]),
    '#EXT-X-ENDLIST',
  ])
}

function playlistHeader(version: number, target: number): string[] {
  return [
    '#EXTM3U',
    `#EXT-X-VERSION:${version}`,
    `#EXT-X-TARGETDURATION:${target}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
  ]
}

/** 4.4.5.1: date ranges require a date. 6.2.4: if one playlist has dates, all must. */
function dateTag({ cues, programStart }: Presentation, start: number): string | null {
  if (cues.length === 0 && programStart === 0) return null
  return `#EXT-X-PROGRAM-DATE-TIME:${date(programStart, start)}`
}

function mapTag({ uri, range }: ObjectLocation): string {
  return tag('EXT-X-MAP', {
    URI: quoted(uri),
    BYTERANGE: range === null ? null : quoted(`${range.bytes}@${range.offset}`),
  })
}

function rangeTag({ bytes, offset }: ByteRange): string {
  return `#EXT-X-BYTERANGE:${bytes}@${offset}`
}
