// In charge of: what the player is given to play, the same for a job's page and for a share page.

/** One address to play. */
export interface PlayerSource {
  kind: 'hls' | 'dash' | 'file'
  url: string
  /** "HLS", "video.mp4". */
  label: string
  audioOnly?: boolean
}

export interface PlayerMedia {
  title: string
  /** A still image shown until playback begins. */
  poster: string | null
  /** Shown until the media itself says how long it is. */
  durationSeconds: number | null
  /** Width over height; 16:9 where it is not known. */
  aspectRatio?: number | null
  /** WebVTT that places a small image of each moment in a sprite sheet. */
  storyboard: string | null
  /** WebVTT files for sources of the kind "file"; HLS and DASH list their own. */
  captions: readonly CaptionFile[]
}

export interface CaptionFile {
  url: string
  language: string | null
  label: string
}
