// In charge of: the input of the player, the same for the job page and the share page.

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
  /** A still image shown until playback starts. */
  poster: string | null
  /** Shown until the media itself reports its duration. */
  durationSeconds: number | null
  /** Width over height; 16:9 if unknown. */
  aspectRatio?: number | null
  /** WebVTT that maps each moment to a small image in a sprite sheet. */
  storyboard: string | null
  /** WebVTT files for sources of kind "file"; HLS and DASH list their own. */
  captions: readonly CaptionFile[]
}

export interface CaptionFile {
  url: string
  language: string | null
  label: string
}
