// In charge of: the counts that are kept of written media, for any container.
// Not in charge of: counting (sampleTables.ts, tsMeter.ts).
import type { BytesPerSecond } from './bytesPerSecond.ts'

export interface TrackCount {
  /** The PID in a transport stream; null where only the order of tracks identifies them. */
  id: number | null
  /** Bytes of coded video or audio, without the container's overhead. */
  bytes: number
  /** null = not counted. */
  seconds: number | null
}

export interface MediaCounts {
  /** In the container's order. */
  tracks: TrackCount[]
  /** Bytes per second of playback; null where segments are measured instead. */
  seconds: BytesPerSecond | null
  /** RFC 6381 name of the video; null where it has none. */
  codecString: string | null
}
