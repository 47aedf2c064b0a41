// In charge of: what a multiplex consists of.
// Not in charge of: its schedule (multiplexer.ts).
import type { AudioCodec } from '../codecs.ts'
import type { Cue } from '../scte35/cueScan.ts'
import type { TsProfile, VideoLimits } from './bufferLimits.ts'
import type { Service } from './serviceTables.ts'

export interface MultiplexOptions {
  /** Constant rate; null = variable. */
  rateKbps: number | null
  video: VideoLimits
  /** In the order of the encoder's streams. */
  audio: readonly { codec: AudioCodec; channels: number; bitrateKbps: number }[]
  profile: TsProfile | null
  service: Service
  mapPid: number
  videoPid: number
  /** PID of the first track. The others count up from it. */
  audioPid: number
  cues: { pid: number; streamType: number; list: readonly Cue[] } | null
}
