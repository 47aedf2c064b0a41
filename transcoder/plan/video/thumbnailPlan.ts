// In charge of: small pictures for seeking and the poster: their sizes, their times, how many there are.
// Not in charge of: the filters (thumbnailArgs.ts), sheets as files (transcoder/segmenter).
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { ThumbnailPlan, VideoPlan } from '../model/plan.ts'
import { multiply, ratio, toNumber } from '../../formats/rational.ts'

/** The longer side of a small picture; what players show above the seek bar. */
const THUMBNAIL_SIDE = 160
const POSTER_SIDE = 1280
/** Sides of pictures that are far wider than high. */
const MIN_SIDE = 16
/** Small pictures of one film; a longer one has them farther apart. */
const MAX_THUMBNAILS = 200
/** Between two of them where nothing says how long the source is. */
const SECONDS_WHEN_UNKNOWN = 10
/** Of a sheet. */
const MAX_COLUMNS = 5
const MAX_ROWS = 5
/** The poster shows what is so far into the film: it rarely begins with a good picture. */
const POSTER_POSITION = 0.1

/** `segmentFrames` pictures of `video`, the first rendition, are a segment. */
export function planThumbnails(video: VideoPlan, segmentFrames: number, media: MediaInfo): ThumbnailPlan {
  const rate = toNumber(video.frameRate)
  const seconds = media.video?.durationSeconds ?? media.durationSeconds
  const segment = segmentFrames / rate
  const apart = seconds === null ? SECONDS_WHEN_UNKNOWN : seconds / MAX_THUMBNAILS
  // Whole segments, so that a player that has loaded one has its picture.
  const intervalFrames = segmentFrames * Math.max(1, Math.ceil(apart / segment - 1e-9))
  const intervalSeconds = intervalFrames / rate
  const count = seconds === null ? Infinity : Math.max(1, Math.ceil(seconds / intervalSeconds))
  const columns = Math.min(MAX_COLUMNS, count)
  const aspect = toNumber(multiply(video.sar, ratio(video.width, video.height)))
  const [width, height] = fitSide(THUMBNAIL_SIDE, aspect)
  const largest = Math.max(video.height, video.height * aspect)
  const [posterWidth, posterHeight] = fitSide(Math.min(POSTER_SIDE, largest), aspect)
  const posterFrame = Math.floor((seconds ?? 0) * POSTER_POSITION * rate)
  return {
    width,
    height,
    columns,
    rows: Math.min(MAX_ROWS, Math.ceil(count / columns)),
    intervalFrames,
    intervalSeconds,
    posterWidth,
    posterHeight,
    posterFrame,
  }
}

/** Even sides of a picture of that aspect whose longer one is `side`. */
export function fitSide(side: number, aspect: number): [width: number, height: number] {
  const even = (value: number) => Math.max(MIN_SIDE, 2 * Math.round(value / 2))
  return aspect >= 1 ? [even(side), even(side / aspect)] : [even(side * aspect), even(side)]
}

/** Pictures that a film of so many seconds has. */
export function thumbnailCount({ intervalSeconds }: ThumbnailPlan, seconds: number): number {
  return Math.max(1, Math.ceil(seconds / intervalSeconds - 1e-6))
}
