// In charge of: small pictures for seeking and the poster: their sizes, their times, how many there are.
// Not in charge of: the filters (thumbnailArgs.ts), sheets as files (transcoder/segmenter).
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { ThumbnailPlan, VideoPlan } from '../model/plan.ts'
import { multiply, ratio, toNumber } from '../../formats/rational.ts'

/** The longer side of a small picture; what players show above the seek bar. */
const LONGER_SIDE = 160
const POSTER_SIDE = 1280
/** Sides of pictures that are far wider than high. */
const SHORTEST_SIDE = 16
/** Small pictures of one film; a longer one has them farther apart. */
const MOST_PICTURES = 200
/** Between two of them where nothing says how long the source is. */
const BLIND_SECONDS = 10
/** Of a sheet. */
const MOST_COLUMNS = 5
const MOST_ROWS = 5
/** The poster shows what is so far into the film: it rarely begins with a good picture. */
const POSTER_PART = 0.1

/** `segmentFrames` pictures of `video`, the first rendition, are a segment. */
export function planThumbnails(video: VideoPlan, segmentFrames: number, media: MediaInfo): ThumbnailPlan {
  const rate = toNumber(video.frameRate)
  const seconds = media.video?.durationSeconds ?? media.durationSeconds
  const segment = segmentFrames / rate
  const apart = seconds === null ? BLIND_SECONDS : seconds / MOST_PICTURES
  // Whole segments, so that a player that has loaded one has its picture.
  const intervalFrames = segmentFrames * Math.max(1, Math.ceil(apart / segment - 1e-9))
  const intervalSeconds = intervalFrames / rate
  const count = seconds === null ? Infinity : Math.max(1, Math.ceil(seconds / intervalSeconds))
  const columns = Math.min(MOST_COLUMNS, count)
  const aspect = toNumber(multiply(video.sar, ratio(video.width, video.height)))
  const [width, height] = fit(LONGER_SIDE, aspect)
  const largest = Math.max(video.height, video.height * aspect)
  const [posterWidth, posterHeight] = fit(Math.min(POSTER_SIDE, largest), aspect)
  const posterFrame = Math.floor((seconds ?? 0) * POSTER_PART * rate)
  return {
    width,
    height,
    columns,
    rows: Math.min(MOST_ROWS, Math.ceil(count / columns)),
    intervalFrames,
    intervalSeconds,
    posterWidth,
    posterHeight,
    posterFrame,
  }
}

/** Even sides of a picture of that aspect whose longer one is `side`. */
export function fit(side: number, aspect: number): [width: number, height: number] {
  const even = (value: number) => Math.max(SHORTEST_SIDE, 2 * Math.round(value / 2))
  return aspect >= 1 ? [even(side), even(side / aspect)] : [even(side * aspect), even(side)]
}

/** Pictures that a film of so many seconds has. */
export function pictureCount({ intervalSeconds }: ThumbnailPlan, seconds: number): number {
  return Math.max(1, Math.ceil(seconds / intervalSeconds - 1e-6))
}
