// In charge of: translating a stored job into a JobSpec. The Worker does it once for each attempt.
// Not in charge of: validating a request (validateJob.ts): this code only gets accepted jobs.
import { assignChannels, canonicalLanguage, type Channel608 } from '../captions.ts'
import { audioCodecOf, audioFileOf, audioRules, codecOf, pcmKbps, videoCodecs } from '../codecs.ts'
import { parseCutTime } from './cutTime.ts'
import { isSegmented, hasHls, isSmooth, prefersTransportStreams } from '../containers.ts'
import { outputBaseName } from './paths/inputAddress.ts'
import { effectiveChannels, selectedAudio } from './rules/audioBitrates.ts'
import { parseSourceChannels, primaryStream } from './sourceChannels.ts'
import { copiesAudio, copiesVideo } from './rules/copy.ts'
import { toEven } from './rules/videoBitrates.ts'
import { firstInput, outputProvider, type JobConfig } from './jobConfig.ts'
import {
  audioFileDirectory,
  outputLocations,
  profileOutputPath,
  relativeRenditionPath,
  type OutputLocation,
} from './paths/outputLocation.ts'
import { DEFAULT_PMT_PID, DEFAULT_VIDEO_PID, SERVICE_NAME_CHARACTERS, DEFAULT_SEGMENT_SECONDS } from '../limits.ts'
import type { AudioProfileFields, CaptionFields, InputFields, VideoProfileFields } from './fields/request.ts'
import { burnInOf } from './rules/burnIn.ts'
import { extractsOf } from './extractSpec.ts'
import type { AudioProfile, CaptionSpec, InputSpec, JobSpec, TsServiceSpec, PackagingSpec } from './jobSpec.ts'

function serviceOf(config: JobConfig, sourceName: string): TsServiceSpec {
  const videoPid = config.video_pid ?? DEFAULT_VIDEO_PID
  return {
    profile: config.ts_profile ?? null,
    name: config.service_name || sourceName.slice(0, SERVICE_NAME_CHARACTERS) || 'Service',
    provider: config.service_provider || 'Splicepoint',
    id: config.service_id ?? 1,
    transportStreamId: config.transport_stream_id ?? 1,
    mapPid: config.pmt_pid ?? DEFAULT_PMT_PID,
    videoPid,
    audioPid: config.audio_pid ?? videoPid + 1,
  }
}

/** Represents every rung until the source is known. Its bitrate is never used. */
const ANY_RUNG: VideoProfileFields = { width: 0, height: 0, video_bitrate: 0, video_framerate: '1x' }

/**
 * 2.1 master_variant_mode, "whether separate audio is used": for single files, audio is separate if audio_output_path
 * is given.
 */
function isSeparateFile(config: JobConfig): boolean {
  return config.master_variant_mode && Boolean(config.audio_output_path) && !isSegmented(config)
}

function cutOf({
  start_seconds: start,
  end_seconds: end,
}: Pick<JobConfig, 'start_seconds' | 'end_seconds'>): JobSpec['cut'] {
  if (start === undefined && end === undefined) return null
  return { start: parseCutTime(start ?? 0), end: end === undefined ? null : parseCutTime(end) }
}

function captionOf(
  { language, label, format, offset_seconds: offset, ...caption }: CaptionFields,
  channel: Channel608 | null,
): CaptionSpec {
  const tag = canonicalLanguage(language)
  return {
    language: tag === null || tag.startsWith('und') ? null : tag,
    label: label ?? '',
    format: format ?? null,
    offsetSeconds: offset ?? null,
    isDefault: caption.default ?? false,
    forced: caption.forced ?? false,
    hearingImpaired: caption.hearing_impaired ?? false,
    embed: channel === null ? null : { channel, isChosen: caption.embed_channel !== undefined },
  }
}

function captionsOf(captions: readonly CaptionFields[]): CaptionSpec[] {
  const channels = assignChannels(captions)
  return captions.map((caption, index) => captionOf(caption, channels[index] ?? null))
}

const DEFAULT_SAMPLE_RATE = 48_000
const DEFAULT_BIT_DEPTH = 16

function audioFormatOf(
  profile: AudioProfileFields,
): Pick<AudioProfile, 'codec' | 'channels' | 'bitrateKbps' | 'sampleRate' | 'bitDepth' | 'container'> {
  const codec = audioCodecOf(profile.audio_codec)
  const channels = effectiveChannels(profile.audio_channels, profile.primary_audio_downmix_to_stereo)
  const sampleRate = Number(profile.audio_sample_rate ?? DEFAULT_SAMPLE_RATE)
  const { bitrates, bitDepths } = audioRules(codec)
  const asked = Number(profile.audio_bit_depth ?? DEFAULT_BIT_DEPTH)
  const bitDepth = bitDepths.find((depth) => depth === asked) ?? null
  return {
    codec,
    channels,
    bitrateKbps:
      bitrates === null
        ? pcmKbps({ channels, sampleRate, bitDepth: bitDepth ?? DEFAULT_BIT_DEPTH })
        : Number(profile.audio_bitrate),
    sampleRate,
    bitDepth,
    container: audioFileOf(codec, profile.audio_container).container,
  }
}

function inputSpec(fields: InputFields): InputSpec {
  const streams = Object.entries(fields.source_streams ?? {})
  return {
    cut: cutOf(fields),
    sourceStreams: Object.fromEntries(
      streams.map(([name, stream]) => [Number(name), stream === null ? null : Number(stream)]),
    ),
  }
}

/** `single`: the only source, whose own numbers apply. */
function sourceStreamsOf(
  profile: AudioProfileFields,
  single: InputSpec | null,
): Pick<AudioProfile, 'sourceStream' | 'sourceChannels'> {
  const primary = primaryStream(profile)
  if (primary === undefined) return { sourceStream: null }
  const own = (stream: number) => single?.sourceStreams[stream] ?? stream
  if (profile.source_channels === undefined) return { sourceStream: own(primary) }
  const named = parseSourceChannels(profile.source_channels)
  return {
    sourceStream: own(primary),
    sourceChannels: named.map(({ stream, channel }) => ({ stream: own(stream ?? primary), channel })),
  }
}

/** Translates the stored job. `sourceName` is the source's file name if its address does not contain it (an upload). */
export function toSpec(config: JobConfig, sourceName: string = firstInput(config).address): JobSpec {
  const inputs = config.inputs?.map(inputSpec) ?? []
  // One element of `inputs` is the same as `input` with a cut.
  const single = inputs.length > 1 ? null : (inputs[0] ?? { cut: cutOf(config), sourceStreams: {} })
  const locations = outputLocations(outputProvider(config), config)
  const packaging = packagingOf(config)
  const outputOf = (location: OutputLocation | undefined): string => {
    if (location === undefined) return ''
    return packaging === null ? profileOutputPath(location) : (relativeRenditionPath(location, locations) ?? '')
  }
  return {
    container: config.output_container,
    packaging,
    videoCodec: codecOf(config.video_codec),
    quality: config.h264_quality,
    gopSeconds: config.gop_length,
    // Decision "ip_distance": absent = 3.
    ipDistance: config.ip_distance ?? 3,
    keepFps: config.keep_fps,
    scte35Passthrough: config.scte35_passthough,
    // 2.1 scte35_pid_remap: −1 and absent mean the source's PID.
    scte35Pid: config.scte35_pid_remap === undefined || config.scte35_pid_remap < 0 ? null : config.scte35_pid_remap,
    service: serviceOf(config, outputBaseName(sourceName)),
    aspect: config.video_aspect_ratio,
    transform: config.picture_transform,
    // Decision "rotation_blackness": absent = black.
    barPercent: config.rotation_blackness ?? 0,
    // Decision "logo_url": top right, opaque.
    logo: config.logo_url
      ? { position: config.logo_position ?? 'top_right', opacityPercent: config.logo_opacity ?? 100 }
      : null,
    detelecine: config.auto_detelecine_flag ?? false,
    audioVolume: config.audio_volume,
    loudnessLufs: config.loudness_lufs ?? null,
    closedCaptions: config.closed_captions ?? null,
    inputName: outputBaseName(sourceName),
    outputDirectory: locations.directory.key,
    // Decision "HDR, colour": hevc stays HDR, the others cannot.
    dynamicRange: videoCodecs[codecOf(config.video_codec)].hasHdr ? (config.dynamic_range ?? 'source') : 'sdr',
    program: config.program_number ?? null,
    maxSourceErrors: config.max_source_errors ?? null,
    maxChunkSeconds: config.max_chunk_seconds ?? null,
    expectedAudioStreams: config.ts_mode_input_audio_source_stream_count ?? null,
    // If there are several sources, none of them may be a playlist.
    allowHlsSource: single !== null && firstInput(config).provider === 'http',
    audioDirectory: audioFileDirectory(config, locations)?.key ?? null,
    allowUpscaling: config.allow_upscaling ?? null,
    cut: single?.cut ?? null,
    inputs: single === null ? inputs : null,
    copyIfPossible: config.copy_if_possible ?? false,
    ladder: config.ladder ?? null,
    video: (config.ladder === undefined ? config.videoProfiles : [ANY_RUNG]).map((profile, index) => ({
      index,
      rung: null,
      output: outputOf(config.ladder === undefined ? locations.profiles[index] : undefined),
      width: toEven(profile.width),
      height: toEven(profile.height),
      // Decision "video_bitrate_mode": absent = vbr.
      mode: profile.video_bitrate_mode ?? 'vbr',
      bitrateKbps: Math.round(profile.video_bitrate),
      frameRateFactor: profile.video_framerate,
      audioProfiles: isSeparateFile(config) ? [] : selectedAudio(profile.audio_profiles, config.audioProfiles.length),
      progressive: config.force_progressive || profile.video_format === 'progressive',
      copy: copiesVideo(config, profile, index),
    })),
    audio: config.audioProfiles.map((profile, index) => ({
      index,
      ...audioFormatOf(profile),
      ...sourceStreamsOf(profile, single),
      purpose: profile.purpose ?? null,
      downmix: profile.downmix ?? null,
      downmixLfe: profile.downmix_lfe ?? null,
      // Decision "dolby_digital_dialnorm": absent = 0, passthrough.
      dialnorm: profile.dolby_digital_dialnorm ?? 0,
      optional: profile.optional ?? false,
      copy: copiesAudio(config, profile, index),
    })),
    burnIn: burnInOf(config),
    captions: captionsOf(config.captions ?? []),
    ...extractsOf(config),
  }
}

export function packagingOf(config: JobConfig): PackagingSpec | null {
  if (!isSegmented(config)) return null
  return {
    // Decision "output_container with flags": `hls` implies segmented_output_hls.
    hls: hasHls(config),
    dash: config.segmented_output_dash,
    smooth: isSmooth(config),
    segmentSeconds: config.segment_length ?? DEFAULT_SEGMENT_SECONDS,
    hasExplicitSegmentLength: config.segment_length !== undefined,
    separateAudio: config.master_variant_mode,
    // Same decision: `hls` with DASH shares one set of segments; `ts` with DASH has both forms.
    preferTransportStream: prefersTransportStreams(config),
    tar: config.create_tar_file ?? false,
    thumbnails: config.thumbnails ?? false,
    programStart: startOf(config.program_start_time) ?? 0,
  }
}

/** @returns milliseconds since 1970; null = not a valid time */
export function startOf(value: unknown): number | null {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/.test(value))
    return null
  const time = Date.parse(value)
  return Number.isNaN(time) ? null : time
}
