// In charge of: thumbnails for seeking and the poster: their sizes, times and number.
// Not in charge of: the filters (thumbnailArgs.ts), writing the sheets (transcoder/segmenter).
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { ThumbnailPlan } from '#contract/task/plan/packagingPlan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { multiply, ratio, toNumber } from '../../formats/rational.ts'

/** The longer side of a thumbnail, as players show it above the seek bar. */
const THUMBNAIL_SIDE = 160
const POSTER_SIDE = 1280
/** The least side, for frames that are far wider than high. */
const MIN_SIDE = 16
/** Thumbnails of one video. In a longer video they are further apart. */
const MAX_THUMBNAILS = 200
/** Seconds from one thumbnail to the next where the source's duration is unknown. */
const SECONDS_WHEN_UNKNOWN = 10
/** Columns and rows of a sheet. */
const MAX_COLUMNS = 5
const MAX_ROWS = 5
/** Time of the poster as a share of the video: the beginning rarely shows a useful frame. */
const POSTER_POSITION = 0.1

/** `segmentFrames` frames of `video`, the first rendition, are a segment. */
export function planThumbnails(video: VideoPlan, segmentFrames: number, media: MediaInfo): ThumbnailPlan {
  const rate = toNumber(video.frameRate)
  const seconds = media.video?.durationSeconds ?? media.durationSeconds
  const segment = segmentFrames / rate
  const apart = seconds === null ? SECONDS_WHEN_UNKNOWN : seconds / MAX_THUMBNAILS
  // Whole segments: a player that has loaded a segment then has its thumbnail.
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

/** Even width and height of that aspect, of which the longer is `side`. */
export function fitSide(side: number, aspect: number): [width: number, height: number] {
  const even = (value: number) => Math.max(MIN_SIDE, 2 * Math.round(value / 2))
  return aspect >= 1 ? [even(side), even(side / aspect)] : [even(side * aspect), even(side)]
}

/** Number of thumbnails of a video of that many seconds. */
export function thumbnailCount({ intervalSeconds }: ThumbnailPlan, seconds: number): number {
  return Math.max(1, Math.ceil(seconds / intervalSeconds - 1e-6))
}
