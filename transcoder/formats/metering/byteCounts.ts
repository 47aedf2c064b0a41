// In charge of: what is counted of written media, whatever its container.
// Not in charge of: counting (sampleTables.ts, tsMeter.ts, fragmentMeter.ts).
import type { BytesPerSecond } from './bytesPerSecond.ts'

export interface TrackCount {
  /** The PID in a transport stream; null where tracks are told apart by their order alone. */
  id: number | null
  /** Of coded pictures or sound, without what the container adds. */
  bytes: number
  /** null = not counted. */
  seconds: number | null
}

export interface MediaCounts {
  /** In the order of the container. */
  tracks: TrackCount[]
  /** Bytes by the second; null where segments are the measure. */
  seconds: BytesPerSecond | null
  /** Of the video, RFC 6381; null where it has no such name. */
  codecString: string | null
}
