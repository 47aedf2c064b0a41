// In charge of: what a dry run tells: the source as it was probed, the plan in words and numbers, what it would take.
// Not in charge of: making it (transcoder/plan/estimate/estimateJob.ts), who asks for it (worker/jobs/jobRoutes.ts).
import type { Warning } from '../errorCodes.ts'

/** `likely` is a guess; the truth lies between `low` and `high` unless the source is unlike what the model was measured on. */
export interface Range {
  low: number
  likely: number
  high: number
}

export interface SourceReport {
  /** ffprobe's names of the container. */
  formats: string[]
  duration_seconds: number | null
  size_bytes: number | null
  /** Of the whole file. */
  bitrate_kbps: number | null
  video: {
    codec: string
    /** Coded pixels, before rotation. */
    width: number
    height: number
    sample_aspect_ratio: string
    /** Degrees clockwise to stand upright. */
    rotation: number
    /** Frames per second as a fraction, "30000/1001"; null where unknown. */
    frame_rate: string | null
    variable_frame_rate: boolean
    /** As measured in the pictures where they were looked at. */
    scan: 'progressive' | 'interlaced' | 'telecined'
    field_order: string
    pixel_format: string
    transfer: string
    primaries: string
    matrix: string
    hdr: boolean
    /** CEA-608/708 services seen in the first pictures; empty with `has_captions` where they could not be told apart. */
    captions: string[]
    has_captions: boolean
  } | null
  audio: {
    /** What `source_stream` counts. */
    source_stream: number
    codec: string
    channels: number
    channel_layout: string | null
    sample_rate: number
    language: string | null
    dialnorm: number | null
    duration_seconds: number | null
  }[]
  /** null: nobody asked for cues, so nobody looked. */
  cues: { pids: number[]; splice_points: number } | null
  other: { type: string; codec: string; language: string | null }[]
}

export interface FileReport {
  path: string
  content_type: string
  /** Position in `videoProfiles`; null for an audio file. */
  profile: number | null
  /** What an engineer would say of it, one sentence an aspect. */
  description: string[]
  /** null for an audio file. */
  video: {
    codec: string
    width: number
    height: number
    sample_aspect_ratio: string
    frame_rate: string
    frames_per_second: number
    scan: string
    deinterlaced: boolean
    bitrate_mode: string
    bitrate_kbps: number
    max_kbps: number
    buffer_bits: number
    gop_frames: number
    gop_seconds: number
    b_frames: number
    captions: boolean
    logo: { x: number; y: number; width: number; height: number } | null
    /** Size of the picture inside its bars; null where there are none. */
    picture: { width: number; height: number } | null
  } | null
  audio: {
    codec: string
    channels: number
    bitrate_kbps: number
    sample_rate: number
    source_stream: number
    language: string | null
  }[]
  /** null where the source does not say how long it is. */
  output_bytes: Range | null
}

/** `status.estimate`. Figures are null where the source does not say how long it is. */
export interface Estimate {
  version: 1
  probe: SourceReport
  plan: { duration_seconds: number | null; outputs: FileReport[] }
  predicted: {
    /** Encoding on `machine`, without waiting in the queue and without a source or store slower than the encoder. */
    wall_seconds: Range | null
    /** Seconds of one CPU. */
    cpu_seconds: Range | null
    output_bytes: Range | null
    cost_usd: Range | null
    /** Requests that write to the store. */
    store_writes: number | null
    machine: { vcpus: number; memory_gib: number; disk_gb: number }
    /** What `cost_usd` is computed from, in US dollars. */
    prices: { vcpu_second: number; memory_gib_second: number; disk_gb_second: number; store_writes_per_million: number }
  }
  /** The very same that the job would carry. */
  warnings: Warning[]
}
