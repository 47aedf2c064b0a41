// In charge of: bit rates of a track and durations of its segments, from the measured segments.
// Not in charge of: combinations of tracks (multivariantPlaylist.ts).
import type { Presentation } from './presentation.ts'

interface MeasuredTrack {
  timescale: number
  segments: readonly { start: number; duration: number; bytes: number }[]
}

/** Ticks in microseconds; exact to half a microsecond at any duration. */
export function microseconds(ticks: number, timescale: number): number {
  const seconds = Math.floor(ticks / timescale)
  return seconds * 1_000_000 + Math.round(((ticks - seconds * timescale) * 1_000_000) / timescale)
}

/**
 * Duration of each segment in microseconds. The boundaries are rounded, not the durations, so that sums do not drift
 * from the ticks.
 */
export function segmentDurations({ timescale, segments }: MeasuredTrack): number[] {
  const last = segments.at(-1)
  if (last === undefined) return []
  const boundaries = [...segments.map(({ start }) => start), last.start + last.duration]
  const times = boundaries.map((ticks) => microseconds(ticks, timescale))
  return segments.map((_, at) => times[at + 1]! - times[at]!)
}

/** EXT-X-TARGETDURATION of these tracks: no rounded EXTINF exceeds it (RFC 8216bis, 4.4.3.1). Seconds. */
export function targetDuration(tracks: readonly MeasuredTrack[]): number {
  let longest = 1
  for (const track of tracks)
    for (const duration of segmentDurations(track)) longest = Math.max(longest, Math.round(duration / 1_000_000))
  return longest
}

/**
 * Target duration of all media playlists except those of subtitles and key frames, which may differ (RFC 8216bis,
 * 6.2.4). Seconds.
 */
export function presentationTargetDuration({ video, audio }: Presentation): number {
  return targetDuration([...video, ...audio])
}

/**
 * Peak segment bit rate in bits per second (RFC 8216bis, 4.1): the highest of any contiguous set of segments that lasts
 * between 0.5 and 1.5 times the target duration, so that a short last segment does not count alone. For a shorter
 * track, its average.
 */
export function peakRate(track: MeasuredTrack, target = targetDuration([track])): number {
  const durations = segmentDurations(track)
  let peak = 0
  for (let first = 0; first < durations.length; first++) {
    let [time, bytes] = [0, 0]
    for (let last = first; last < durations.length; last++) {
      time += durations[last]!
      bytes += track.segments[last]!.bytes
      if (time > target * 1_500_000) break
      if (time >= target * 500_000) peak = Math.max(peak, (bytes * 8_000_000) / time)
    }
  }
  return peak === 0 ? averageRate(track) : Math.ceil(peak)
}

/** Average segment bit rate in bits per second. */
export function averageRate(track: MeasuredTrack): number {
  const time = segmentDurations(track).reduce((sum, duration) => sum + duration, 0)
  const bytes = track.segments.reduce((sum, segment) => sum + segment.bytes, 0)
  return time === 0 ? 0 : Math.ceil((bytes * 8_000_000) / time)
}
