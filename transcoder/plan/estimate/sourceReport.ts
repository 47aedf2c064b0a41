// In charge of: the description of the source for clients: in the status of every job, and in a dry run's estimate.
// Not in charge of: analysing the source (probe.ts, streamDetails.ts, measureSource.ts).
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { MAX_SOURCE_STREAMS } from '#contract/task/reportSchemas.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { SourceCues } from '../streams/cuePlan.ts'
import type { MediaInfo, VideoStream } from '../model/mediaInfo.ts'
import { classifyFields } from '../video/interlacing.ts'
import { ratioText } from './describePlan.ts'

const HDR_TRANSFERS = ['smpte2084', 'arib-std-b67']

/**
 * `media` may be incomplete. `found` contains its cues, if the job searched for them. A very long list of streams is
 * cut.
 */
export function sourceReport(
  spec: JobSpec,
  { media, found, sizeBytes }: { media: MediaInfo; found: SourceCues | null; sizeBytes: number | null },
): SourceReport {
  const size = media.sizeBytes ?? sizeBytes
  const seconds = media.durationSeconds
  const video = media.video ?? media.unusedVideo ?? null
  return {
    formats: media.formats,
    duration_seconds: seconds,
    size_bytes: size,
    // No bitrate for a joined source: the job may use only parts of the files.
    bitrate_kbps:
      size !== null && seconds !== null && seconds > 0 && !media.formats.includes('joined')
        ? Math.round(size / 125 / seconds)
        : null,
    video: video === null ? null : videoReport(spec, video),
    audio: media.audio.slice(0, MAX_SOURCE_STREAMS).map((stream) => ({
      source_stream: stream.number,
      codec: stream.codec,
      channels: stream.channels,
      channel_layout: stream.channelLayout,
      sample_rate: stream.sampleRate,
      language: stream.language,
      dialnorm: stream.dialnorm,
      duration_seconds: stream.durationSeconds,
    })),
    cues: spec.scte35Passthrough
      ? {
          pids: [...(found?.pids ?? [])].slice(0, MAX_SOURCE_STREAMS),
          splice_points: [...(found?.splicePoints ?? [])].length,
        }
      : null,
    other: media.other.slice(0, MAX_SOURCE_STREAMS).map(({ type, codec, language }) => ({ type, codec, language })),
  }
}

function videoReport(spec: JobSpec, video: VideoStream): SourceReport['video'] {
  return {
    codec: video.codec,
    width: video.width,
    height: video.height,
    sample_aspect_ratio: ratioText(video.sar),
    rotation: video.rotation,
    frame_rate: video.frameRate === null ? null : ratioText(video.frameRate, '/'),
    variable_frame_rate: video.variableFrameRate,
    // The plan already has the warnings of this decision.
    scan: classifyFields(spec, video).value.kind,
    field_order: video.fieldOrder,
    pixel_format: video.pixelFormat,
    transfer: video.colorTransfer ?? 'unknown',
    primaries: video.colorPrimaries ?? 'unknown',
    matrix: video.colorSpace ?? 'unknown',
    hdr: HDR_TRANSFERS.includes(video.colorTransfer ?? ''),
    captions: video.captionChannels,
    has_captions: video.closedCaptions,
  }
}
