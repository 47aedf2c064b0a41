// In charge of: the multivariant playlist (RFC 8216bis, 4.4.6): variants, rendition groups, and their attributes.
// Not in charge of: media playlists (mediaPlaylist.ts), grouping audio tracks (audioGroups.ts).
import type { AudioPurpose } from '#contract/job/jobSpec.ts'
import { groupsOfSelections, type AudioGroup } from '../presentation/audioGroups.ts'
import { embeddedCaptionChannels } from '../presentation/embeddedCaptions.ts'
import { iframePlaylistPath, imagePlaylistPath, playlistPath } from './mediaPlaylist.ts'
import { playlist, quoted, tag } from './playlistSyntax.ts'
import { languageTag } from '../presentation/languageTags.ts'
import type { AudioTrack, Presentation, TextTrack, ThumbnailTrack, VideoTrack } from '../presentation/presentation.ts'
import { averageRate, peakRate, presentationTargetDuration } from '../presentation/segmentBitrates.ts'
import { encodeUriPath } from '../presentation/relativeUri.ts'

/** Addresses of the media playlists, relative to the multivariant one; null = there is none. */
export interface PlaylistNames {
  media: (track: VideoTrack | AudioTrack | TextTrack) => string
  keyFrames: (track: VideoTrack) => string | null
  images: (track: ThumbnailTrack) => string | null
}

const DIRECTORY_NAMES: PlaylistNames = { media: playlistPath, keyFrames: iframePlaylistPath, images: imagePlaylistPath }
const SUBTITLES = 'subs'
const CAPTIONS = 'cc'
/** Information in captions beyond speech, in Apple's terms. */
const CAPTION_TRAITS = 'public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound'

/**
 * `master.m3u8`. Variants are in the order of `videoProfiles`. Each is listed with every audio group of its profile's
 * selection.
 */
export function multivariantPlaylist(presentation: Presentation, names: PlaylistNames = DIRECTORY_NAMES): string {
  const { video, audio, text, thumbnails } = presentation
  if (video.length === 0) return audioPlaylist(presentation, names)
  const selected = audio.filter(({ id }) => video.some(({ audioTracks }) => audioTracks.includes(id)))
  const groups = groupsOfSelections(
    selected,
    video.map(({ audioTracks }) => audioTracks),
  )
  return playlist([
    '#EXTM3U',
    `#EXT-X-VERSION:${version(presentation)}`,
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...[...new Map(groups.flat().map((group) => [group.id, group])).values()].flatMap((group) =>
      audioMedia(group, names),
    ),
    ...textMedia(text, names),
    ...captionMedia(presentation),
    ...video.flatMap((track, at) => {
      const own = groups[at]!
      return (own.length === 0 ? [null] : own).flatMap((group) => [
        variant(presentation, track, group),
        encodeUriPath(names.media(track)),
      ])
    }),
    ...video.map((track) => keyFrameVariant(track, names)),
    thumbnails === null ? null : imageVariant(thumbnails, names),
  ])
}

/**
 * Without video, each encoding of the main audio is a variant, in the order of `audioProfiles`. With audio of several
 * streams of the source, a variant has a group of all of them in its encoding; its own playlist is the playlist of the
 * first stream.
 */
function audioPlaylist(presentation: Presentation, names: PlaylistNames): string {
  const { audio } = presentation
  const [groups = []] = groupsOfSelections(audio, [audio.map(({ id }) => id)])
  const target = presentationTargetDuration(presentation)
  const sorted = groups.toSorted((a, b) => mainOf(a).profile - mainOf(b).profile)
  const isGrouped = sorted.some(({ members }) => members.length > 1)
  return playlist([
    '#EXTM3U',
    `#EXT-X-VERSION:${version(presentation)}`,
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...(isGrouped ? sorted.flatMap((group) => audioMedia(group, names)) : []),
    ...sorted.flatMap((group) => {
      const tracks = group.members.map(({ track }) => track)
      const most = (rate: (one: AudioTrack) => number) => Math.max(...tracks.map(rate))
      return [
        tag('EXT-X-STREAM-INF', {
          BANDWIDTH: most((one) => peakRate(one, target)),
          'AVERAGE-BANDWIDTH': most(averageRate),
          CODECS: quoted([...new Set(tracks.flatMap(({ codecs }) => codecs))].join(',')),
          AUDIO: isGrouped ? quoted(group.id) : null,
        }),
        encodeUriPath(names.media(mainOf(group))),
      ]
    }),
  ])
}

function mainOf({ members }: AudioGroup): AudioTrack {
  return members[0]!.track
}

/** RFC 8216bis, 8: SERVICE needs 7, EXT-X-MAP in a media playlist 6; EXT-X-MEDIA came with 4. */
function version({ video, audio }: Presentation): number {
  if (video.some(({ captionChannels }) => captionChannels.some((id) => id.startsWith('SERVICE')))) return 7
  return (video.length === 0 ? audio : video).some(({ init }) => init !== null) ? 6 : 4
}

/** RFC 8216bis, 4.4.6.1, and Apple's HLS authoring specification, 4. */
const AUDIO_TRAITS: Readonly<Partial<Record<AudioPurpose, string>>> = {
  audio_description: 'public.accessibility.describes-video',
  hearing_impaired: 'public.accessibility.enhances-speech-intelligibility',
}

function audioMedia({ id, members }: AudioGroup, names: PlaylistNames): string[] {
  const known = new Set<string>()
  return members.map(({ rendition, track }, at) => {
    const characteristics = AUDIO_TRAITS[rendition.purpose] ?? null
    // 4.4.6.1.1: renditions with AUTOSELECT must differ in language or CHARACTERISTICS.
    const traits = `${rendition.language} ${characteristics}`
    const distinct = !known.has(traits)
    known.add(traits)
    return tag('EXT-X-MEDIA', {
      TYPE: 'AUDIO',
      'GROUP-ID': quoted(id),
      NAME: quoted(rendition.name),
      LANGUAGE: rendition.language === null ? null : quoted(rendition.language),
      DEFAULT: at === 0 ? 'YES' : 'NO',
      AUTOSELECT: distinct ? 'YES' : 'NO',
      CHARACTERISTICS: characteristics === null ? null : quoted(characteristics),
      CHANNELS: quoted(String(track.format.channels)),
      URI: quoted(encodeUriPath(names.media(track))),
    })
  })
}

function textMedia(tracks: readonly TextTrack[], names: PlaylistNames): string[] {
  // 4.4.6.1.1: renditions with AUTOSELECT must differ in language, FORCED or CHARACTERISTICS.
  const keyOf = (track: TextTrack) => `${languageTag(track.language)} ${track.purpose}`
  // A default rendition must have AUTOSELECT.
  const seen = new Set(tracks.filter(({ isDefault }) => isDefault).map(keyOf))
  return tracks.map((track) => {
    const language = languageTag(track.language)
    const key = keyOf(track)
    const distinct = track.isDefault || !seen.has(key)
    seen.add(key)
    return tag('EXT-X-MEDIA', {
      TYPE: 'SUBTITLES',
      'GROUP-ID': quoted(SUBTITLES),
      NAME: quoted(track.name),
      LANGUAGE: language === null ? null : quoted(language),
      DEFAULT: track.isDefault ? 'YES' : 'NO',
      AUTOSELECT: distinct ? 'YES' : 'NO',
      FORCED: track.purpose === 'forced' ? 'YES' : 'NO',
      CHARACTERISTICS: track.purpose === 'captions' ? quoted(CAPTION_TRAITS) : null,
      URI: quoted(encodeUriPath(names.media(track))),
    })
  })
}

function captionMedia(presentation: Presentation): string[] {
  const seen = new Set<string | null>()
  return embeddedCaptionChannels(presentation.video, presentation).map((channel) => {
    const language = languageTag(channel.language)
    const distinct = !seen.has(language)
    seen.add(language)
    return tag('EXT-X-MEDIA', {
      TYPE: 'CLOSED-CAPTIONS',
      'GROUP-ID': quoted(CAPTIONS),
      NAME: quoted(channel.name),
      LANGUAGE: language === null ? null : quoted(language),
      DEFAULT: 'NO',
      AUTOSELECT: distinct ? 'YES' : 'NO',
      'INSTREAM-ID': quoted(channel.id),
    })
  })
}

function variant(presentation: Presentation, track: VideoTrack, group: AudioGroup | null): string {
  const { text } = presentation
  const target = presentationTargetDuration(presentation)
  const audioTracks = group?.members.map((member) => member.track) ?? []
  // 4.4.6.2: the largest sum over all combinations of renditions that can be played together.
  const most = (rate: (one: VideoTrack | AudioTrack | TextTrack) => number) =>
    rate(track) + Math.max(0, ...audioTracks.map(rate)) + Math.max(0, ...text.map(rate))
  return tag('EXT-X-STREAM-INF', {
    BANDWIDTH: most((one) => peakRate(one, target)),
    'AVERAGE-BANDWIDTH': most(averageRate),
    CODECS: quoted([...new Set([track, ...audioTracks].flatMap(({ codecs }) => codecs))].join(',')),
    RESOLUTION: resolution(track),
    'FRAME-RATE': (track.frameRate.num / track.frameRate.den).toFixed(3),
    'VIDEO-RANGE': track.range,
    AUDIO: group === null ? null : quoted(group.id),
    SUBTITLES: text.length === 0 ? null : quoted(SUBTITLES),
    'CLOSED-CAPTIONS': captionGroup(presentation, track),
  })
}

/** 4.4.6.2: NONE is set on all variants or on none. Without the attribute nothing is known. */
function captionGroup(presentation: Presentation, track: VideoTrack): string | null {
  if (embeddedCaptionChannels([track], presentation).length > 0) return quoted(CAPTIONS)
  const others = embeddedCaptionChannels(presentation.video, presentation).length > 0
  return others || presentation.hasCaptions ? null : 'NONE'
}

/** 4.4.6.2: the display size in square pixels, with the coded number of lines. */
function resolution({ width, height, sar }: VideoTrack): string {
  return `${Math.round((width * sar.num) / sar.den)}x${height}`
}

function keyFrameVariant(track: VideoTrack, names: PlaylistNames): string | null {
  const uri = names.keyFrames(track)
  if (uri === null || track.keyFrames.length === 0) return null
  const frames = { timescale: track.timescale, segments: track.keyFrames }
  return tag('EXT-X-I-FRAME-STREAM-INF', {
    BANDWIDTH: peakRate(frames),
    'AVERAGE-BANDWIDTH': averageRate(frames),
    CODECS: quoted(track.codecs[0]!),
    RESOLUTION: resolution(track),
    'VIDEO-RANGE': track.range,
    URI: quoted(encodeUriPath(uri)),
  })
}

function imageVariant(track: ThumbnailTrack, names: PlaylistNames): string | null {
  const uri = names.images(track)
  if (uri === null || track.sheets.length === 0) return null
  return tag('EXT-X-IMAGE-STREAM-INF', {
    BANDWIDTH: peakRate({ timescale: 1000, segments: track.sheets }),
    RESOLUTION: `${track.width}x${track.height}`,
    CODECS: quoted('jpeg'),
    URI: quoted(encodeUriPath(uri)),
  })
}
