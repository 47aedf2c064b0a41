// In charge of: the built-in presets, for the API, the dashboard and the command line, and merging a preset into a job.
// Pure. A test checks that the service accepts each preset.
// Not in charge of: validating an account's own presets (validatePreset.ts), storing them (worker/db/presets.ts).
import { presentMember, isJsonObject, type JsonObject } from './fieldReader.ts'

/** A preset as the API answers with it (contract/api/answers.ts). */
export interface BuiltInPreset {
  preset_id: string
  name: string
  description: string
  built_in: true
  job: JsonObject
  updated_at: null
}

const rung = (height: number, kbps: number, output: string): JsonObject => ({
  output,
  width: 0,
  height,
  video_bitrate_mode: 'vbr',
  video_bitrate: kbps,
})

const stereo = (codec: string, kbps: number): JsonObject => ({
  audio_codec: codec,
  audio_channels: '2',
  audio_bitrate: String(kbps),
  source_stream: '1',
  // A source without audio is not an error: the output has no audio either, with a warning.
  optional: true,
})

/** HLS and DASH that share one set of fragmented MP4 segments, with audio in separate tracks. */
const STREAMING = {
  output_container: 'hls',
  segmented_output_hls: true,
  segmented_output_dash: true,
  master_variant_mode: true,
  ladder: 'auto',
} as const

const builtIn = (preset_id: string, name: string, description: string, job: JsonObject): BuiltInPreset => ({
  preset_id,
  name,
  description,
  built_in: true,
  job,
  updated_at: null,
})

/** A form starts with the first one. */
export const builtInPresets: readonly BuiltInPreset[] = [
  builtIn('mp4', 'MP4', 'One H.264 file, up to 720p, with stereo audio. Plays everywhere.', {
    output_container: 'mp4',
    allow_upscaling: false,
    videoProfiles: [rung(720, 2600, 'video.mp4')],
    audioProfiles: [stereo('aac', 128)],
  }),
  builtIn(
    'hls',
    'HLS and DASH',
    'Adaptive streaming in sizes that fit the source; one set of segments for both formats.',
    {
      ...STREAMING,
      audioProfiles: [stereo('aac', 128)],
    },
  ),
  builtIn('web', 'Web player', 'HLS and DASH with a poster and preview thumbnails for the seek bar.', {
    ...STREAMING,
    thumbnails: true,
    audioProfiles: [stereo('aac', 128)],
  }),
  builtIn(
    'hls-ts',
    'HLS for older devices',
    'Transport-stream segments in sizes that fit the source, audio and video together.',
    {
      output_container: 'hls',
      segmented_output_hls: true,
      ladder: 'auto',
      audioProfiles: [stereo('aac', 128)],
    },
  ),
  builtIn('files', 'MP4 downloads', 'H.264 files in sizes that fit the source, for downloading.', {
    output_container: 'mp4',
    ladder: 'auto',
    audioProfiles: [stereo('aac', 128)],
  }),
  builtIn('hevc', 'HEVC', 'One HEVC file at the size of the source. HDR stays HDR.', {
    output_container: 'mp4',
    video_codec: 'hevc',
    gop_length: 2,
    // Clamped to the source's size, with the rate of that size: 6000 kbps at 1080p.
    allow_upscaling: false,
    videoProfiles: [rung(4320, 48_000, 'video-hevc.mp4')],
    audioProfiles: [stereo('aac', 192)],
  }),
  builtIn(
    'broadcast',
    'Broadcast TS',
    'MPEG-2, 1080, constant bitrate, Dolby Digital audio. Keeps captions and SCTE-35 cues.',
    {
      output_container: 'ts',
      video_codec: 'mpeg2',
      gop_length: 0.5,
      scte35_passthrough: true,
      closed_captions: true,
      videoProfiles: [
        { output: 'broadcast.ts', width: 1920, height: 1080, video_bitrate_mode: 'cbr', video_bitrate: 15_000 },
      ],
      audioProfiles: [stereo('ac3', 192)],
    },
  ),
  builtIn('audio', 'Audio', 'The audio as a separate file at −16 LUFS, and a small video for reference.', {
    output_container: 'mp4',
    audio_output_path: 'audio',
    loudness_lufs: -16,
    allow_upscaling: false,
    videoProfiles: [rung(234, 200, 'preview.mp4')],
    audioProfiles: [stereo('aac', 192)],
  }),
  builtIn('podcast', 'Podcast', 'An MP3 at −16 LUFS, without video.', {
    loudness_lufs: -16,
    videoProfiles: [],
    // Not optional: without this stream there would be nothing to make.
    audioProfiles: [{ audio_codec: 'mp3', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }],
  }),
]

/** Finds a preset by id, or by name as people write it, in any case. */
export function builtInPreset(idOrName: string): BuiltInPreset | undefined {
  const name = normalizePresetName(idOrName)
  return builtInPresets.find((each) => each.preset_id === idOrName || normalizePresetName(each.name) === name)
}

/** Names are equal if they differ only in case, in surrounding spaces, or in Unicode normalisation. */
export function normalizePresetName(name: string): string {
  return name.normalize('NFC').trim().toLowerCase()
}

/** Members that exclude each other. If the body has one of them, the preset's others are dropped. */
const EXCLUSIVE_FIELDS: readonly (readonly string[])[] = [
  ['videoProfiles', 'ladder'],
  ['scte35_passthough', 'scte35_passthrough'],
  ['master_variant_mode', 'separate_audio'],
  ['audio_volume', 'loudness_lufs'],
  ['inputs', 'start_seconds'],
  ['inputs', 'end_seconds'],
]

/** The body, completed with members of the preset. Lists are not merged: the body's list wins. */
export function mergePreset(job: JsonObject, body: JsonObject): JsonObject {
  // Decision "numbers and strings": `null` = absent.
  const has = (name: string): boolean => presentMember(body, name) !== undefined
  const replaced = new Set(EXCLUSIVE_FIELDS.filter((names) => names.some(has)).flat())
  const kept = Object.entries(job).filter(([name]) => !replaced.has(name) && !has(name))
  // fromEntries and spread define own members, so a name like __proto__ cannot reach a prototype.
  return { ...body, ...Object.fromEntries(kept) }
}

/**
 * The name of the preset that a body asks for; null = none, or a value that cannot be a name (validateJob refuses it).
 */
export function presetNameOf(body: unknown): string | null {
  if (!isJsonObject(body) || !Object.hasOwn(body, 'preset')) return null
  const { preset } = body
  return typeof preset === 'string' && preset !== '' ? preset : null
}
