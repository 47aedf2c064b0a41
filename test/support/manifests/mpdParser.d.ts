// In charge of: types for the part of mpd-parser that tests use; it has no types of its own.
// Not in charge of: the rest of it.
declare module 'mpd-parser' {
  export interface ParsedSegment {
    resolvedUri: string
    presentationTime: number
    duration: number
    byterange?: { offset: number; length: number }
    map: { resolvedUri: string; byterange?: { offset: number; length: number } }
  }
  export interface ParsedPlaylist {
    attributes: { NAME: string; BANDWIDTH: number; CODECS: string; RESOLUTION?: { width: number; height: number } }
    segments: ParsedSegment[]
  }
  export interface ParsedManifest {
    duration: number
    playlists: ParsedPlaylist[]
    mediaGroups: Record<
      'AUDIO' | 'SUBTITLES',
      Record<string, Record<string, { language: string; playlists: ParsedPlaylist[] }>>
    >
  }
  export function parse(text: string, options: { manifestUri: string }): ParsedManifest
}
