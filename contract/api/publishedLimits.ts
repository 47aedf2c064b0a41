// In charge of: the public form of the limits (`GET /api/v0/limits`).
// Not in charge of: the numbers (limits.ts, codecs.ts), quotas of an account (worker/env.ts).
import { CAPTION_FORMATS } from '../captions.ts'
import { AUDIO_BITRATES, allowedAudioBitrates } from '../job/rules/audioBitrates.ts'
import { FLOOR_KBPS, fitsCodec, maximumBitrateKbps, minimumBitrateKbps } from '../job/rules/videoBitrates.ts'
import { OUTPUT_PROVIDERS, rulesOf } from '../job/stores/registry.ts'
import { AUDIO_CODECS, codecOf, videoCodecs, WIRE_VIDEO_CODECS, type WireVideoCodec } from '../codecs.ts'
import {
  AUDIO_PROFILES,
  AUDIO_VOLUME,
  DIALNORM,
  GOP_LENGTH,
  HEIGHT,
  INPUTS,
  IP_DISTANCE,
  CAPTION_OFFSET,
  CAPTIONS,
  CHUNK_SECONDS,
  DEADLINE_SECONDS,
  LOGO_OPACITY,
  LOUDNESS_LUFS,
  MAX_BODY_BYTES,
  MAX_FOLLOWERS,
  MAX_LENGTH,
  MAX_CAPTION_BYTES,
  MAX_CAPTION_CUES,
  MAX_LOGO_BYTES,
  MAX_LOGO_PIXELS,
  MAX_NESTING,
  MAX_RESUMABLE_BYTES,
  MAX_SHARES,
  MAX_STILLS,
  MAX_UPLOAD_BYTES,
  MAX_WAVEFORM_PIXELS,
  METADATA,
  PIXELS_PER_SECOND,
  PREVIEW_PARTS,
  PREVIEW_RATE,
  PREVIEW_SECONDS,
  PREVIEW_WIDTH,
  PRESETS,
  PROGRAM_NUMBER,
  ROTATION_BLACKNESS,
  SAMPLES_PER_PIXEL,
  SCTE35_PID,
  SEGMENT_LENGTH,
  SERVICE_ID,
  SHARE_SECONDS,
  SHARE_TITLE_LENGTH,
  SOURCE_ERRORS,
  SOURCE_CHANNEL,
  SOURCE_CHANNEL_STREAM,
  SOURCE_STREAM,
  STILL_INTERVAL,
  STILL_QUALITY,
  STILLS,
  STREAM_PID,
  TRANSPORT_STREAM_ID,
  UPLOAD_CHUNK_BYTES,
  UPLOAD_TOKENS,
  VIDEO_PROFILES,
  WAVEFORM_HEIGHT,
  WAVEFORM_WIDTH,
  WIDTH,
  type RetentionDays,
} from '../limits.ts'

const COMMON_SIZES = [
  [3840, 2160],
  [2560, 1440],
  [1920, 1080],
  [1280, 720],
  [960, 540],
  [720, 576],
  [720, 480],
  [640, 360],
  [416, 234],
] as const

/** The body of `GET /api/v0/limits`. */
export function publishedLimits({
  retentionDays,
  ...quotas
}: {
  maxActiveJobs: number
  maxStoredUploadBytes: number | null
  maxSourceSeconds: number | null
  requestsPerMinute: number | null
  retentionDays: RetentionDays
}) {
  return {
    body_bytes: MAX_BODY_BYTES,
    upload_bytes: MAX_UPLOAD_BYTES,
    resumable_upload: { bytes: MAX_RESUMABLE_BYTES, recommended_chunk_bytes: UPLOAD_CHUNK_BYTES },
    nesting: MAX_NESTING,
    inputs: INPUTS,
    videoProfiles: VIDEO_PROFILES,
    audioProfiles: AUDIO_PROFILES,
    stills: { ...STILLS, images: MAX_STILLS, every_seconds: STILL_INTERVAL, quality: STILL_QUALITY },
    animated_preview: {
      seconds: PREVIEW_SECONDS,
      parts: PREVIEW_PARTS,
      width: PREVIEW_WIDTH,
      frames_per_second: PREVIEW_RATE,
    },
    waveform: {
      samples_per_pixel: SAMPLES_PER_PIXEL,
      pixels_per_second: PIXELS_PER_SECOND,
      pixels: MAX_WAVEFORM_PIXELS,
      width: WAVEFORM_WIDTH,
      height: WAVEFORM_HEIGHT,
    },
    width: { ...WIDTH, also: [0] },
    height: { ...HEIGHT, also: [0] },
    audio_volume: AUDIO_VOLUME,
    loudness_lufs: LOUDNESS_LUFS,
    dolby_digital_dialnorm: DIALNORM,
    source_stream: SOURCE_STREAM,
    source_channels: { channel: SOURCE_CHANNEL, stream: SOURCE_CHANNEL_STREAM },
    ip_distance: IP_DISTANCE,
    gop_length_seconds: { exclusive_minimum: GOP_LENGTH.minimum, maximum: GOP_LENGTH.maximum },
    segment_length_seconds: { exclusive_minimum: SEGMENT_LENGTH.minimum, maximum: SEGMENT_LENGTH.maximum },
    rotation_blackness: ROTATION_BLACKNESS,
    logo_opacity: LOGO_OPACITY,
    logo: { bytes: MAX_LOGO_BYTES, pixels: MAX_LOGO_PIXELS, types: ['image/png', 'image/jpeg', 'image/webp'] },
    captions: {
      ...CAPTIONS,
      bytes: MAX_CAPTION_BYTES,
      captions_per_file: MAX_CAPTION_CUES,
      formats: CAPTION_FORMATS,
      offset_seconds: CAPTION_OFFSET,
    },
    program_number: PROGRAM_NUMBER,
    max_source_errors: SOURCE_ERRORS,
    max_chunk_seconds: { ...CHUNK_SECONDS, also: [0] },
    deadline_seconds: DEADLINE_SECONDS,
    scte35_pid_remap: { ...SCTE35_PID, also: [-1] },
    transport_stream: { pids: STREAM_PID, service_id: SERVICE_ID, transport_stream_id: TRANSPORT_STREAM_ID },
    string_lengths: MAX_LENGTH,
    output_path_bytes: Object.fromEntries(
      OUTPUT_PROVIDERS.map((provider) => [provider, rulesOf(provider).outputPathBytes]),
    ),
    video_bitrate_kbps: {
      floor: FLOOR_KBPS,
      minimum_formula: 'max(100, round50(2300 * (width*height/2073600)^0.75 * C * M)), a half rounded down',
      C: Object.fromEntries(WIRE_VIDEO_CODECS.map((codec) => [codec, videoCodecs[codecOf(codec)].bitrateFactor])),
      M: { cbr: 1, vbr: 0.75 },
      sizes: COMMON_SIZES.map(([width, height]) => ({ width, height, ...bitrateRangesByCodec(width, height) })),
    },
    audio_bitrate_kbps: {
      values: AUDIO_BITRATES,
      ...Object.fromEntries(
        // flac and pcm have no bitrate.
        AUDIO_CODECS.flatMap((codec) => {
          const [stereo, surround] = [allowedAudioBitrates(codec, 2), allowedAudioBitrates(codec, 6)]
          return stereo === null || surround === null ? [] : [[codec, { '2': stereo, '6': surround }]]
        }),
      ),
    },
    metadata: METADATA,
    presets: PRESETS,
    upload_tokens: UPLOAD_TOKENS,
    retention_days: retentionDays,
    shares: { per_job: MAX_SHARES, expires_in_seconds: SHARE_SECONDS, title_length: SHARE_TITLE_LENGTH },
    quotas: {
      active_jobs: quotas.maxActiveJobs,
      stored_upload_bytes: quotas.maxStoredUploadBytes,
      source_seconds: quotas.maxSourceSeconds,
      requests_per_minute: quotas.requestsPerMinute,
      followers_per_job: MAX_FOLLOWERS,
    },
  }
}

interface BitrateRange {
  minimum: { cbr: number; vbr: number }
  maximum: number
}

/** A codec is left out where none of its levels has the size: mpeg2 ends at 1920x1152. */
function bitrateRangesByCodec(width: number, height: number): Partial<Record<WireVideoCodec, BitrateRange>> {
  const codecs = WIRE_VIDEO_CODECS.filter((codec) => fitsCodec(codec, width, height))
  return Object.fromEntries(
    codecs.map((codec) => [
      codec,
      {
        minimum: {
          cbr: minimumBitrateKbps(codec, width, height, 'cbr'),
          vbr: minimumBitrateKbps(codec, width, height, 'vbr'),
        },
        maximum: maximumBitrateKbps(codec, width, height),
      },
    ]),
  )
}
