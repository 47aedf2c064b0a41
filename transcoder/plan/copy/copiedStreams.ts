// In charge of: the plan of a copied stream: its values are those of the source.
// Not in charge of: whether it is copied (settleCopies.ts), the arguments (argv/copyArgs.ts).
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import type { AudioProfile } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { frameSamples } from '../../formats/codecs.ts'
import { toNumber, type Rational } from '../../formats/rational.ts'
import { videoCodecOfSource } from '../codecs.ts'
import type { AudioStream, VideoStream } from '../model/mediaInfo.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { ColorTags, SourceVideo, VideoPlan } from '#contract/task/plan/videoPlan.ts'
import type { VideoVerdict } from './videoVerdict.ts'

type Copied = Extract<VideoVerdict, { copies: true }>

const FIELD_ORDERS = {
  progressive: 'progressive',
  unknown: 'progressive',
  tt: 'tff',
  tb: 'tff',
  bb: 'bff',
  bt: 'bff',
} as const
/** The decoder's buffer at the highest rate of the source. */
const BUFFER_SECONDS = 1.5

export function copiedVideo(
  video: VideoStream,
  { part, survey, description }: Copied,
  picture: SourceVideo,
  rate: Rational,
): VideoPlan {
  const codec = videoCodecOfSource(video.codec)
  if (codec === null) throw new TaskError('internal', `Video of the codec ${video.codec} cannot be copied.`)
  const { width } = video
  const height = video.height + (video.blanking?.lines ?? 0)
  const seconds = Math.max(0.001, (part.endSeconds ?? survey.endSeconds) - part.startSeconds)
  const bytes = part.frames.reduce((sum, frame) => sum + survey.sizes[frame]!, 0)
  const maxKbps = Math.max(1, highestKbps(survey, part.frames))
  const intervals = part.frames
    .map((frame) => survey.times[frame]!)
    .toSorted((a, b) => a - b)
    .map((time, at, all) => (at === 0 ? 0 : time - all[at - 1]!))
  return {
    ...{ turn: 0, mirror: 'none', cropWidth: width, cropHeight: height, width, height },
    ...{ pictureWidth: width, pictureHeight: height, barPercent: 0, sar: video.sar },
    ...{ codec, quality: 'good', mode: 'vbr' },
    bitrateKbps: Math.max(1, Math.round(bytes / 125 / seconds)),
    maxKbps,
    bufferBits: maxKbps * 1000 * BUFFER_SECONDS,
    frameRate: rate,
    pictureRate: rate,
    gopFrames: Math.max(1, Math.round(longestGopSeconds(survey) * toNumber(rate))),
    bFrames: 0,
    deinterlace: 'none',
    scan: FIELD_ORDERS[video.fieldOrder],
    color: colorOf(picture, video),
    spliceFrames: [],
    logo: null,
    bitmaps: null,
    captions: true,
    embedded: null,
    copied: {
      description,
      frames: part.frames.length,
      leadingFrames: (part.frames[1] ?? part.frames[0]! + 1) - part.frames[0]! - 1,
      frameSeconds: Math.max(1 / toNumber(rate), longest(intervals)),
    },
  }
}

function longest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0)
}

function longestGopSeconds({ times, keyFrames, endSeconds }: Copied['survey']): number {
  return longest(
    keyFrames.map(
      (frame, at) => (keyFrames[at + 1] === undefined ? endSeconds : times[keyFrames[at + 1]!]!) - times[frame]!,
    ),
  )
}

/** The highest bitrate of any second: with a lower one, the largest frame might not fit into the buffer. */
function highestKbps({ times, sizes }: Copied['survey'], frames: readonly number[]): number {
  const bytes = new Map<number, number>()
  for (const frame of frames) {
    const second = Math.floor(times[frame]!)
    bytes.set(second, (bytes.get(second) ?? 0) + sizes[frame]!)
  }
  return Math.ceil(longest([...bytes.values()]) / 125)
}

/** Manifests need the dynamic range only. The frames keep the tags that they have. */
function colorOf({ matrix, primaries }: SourceVideo, { colorTransfer }: VideoStream): ColorTags {
  const base = ({ smpte170m: 'smpte170m', bt470bg: 'bt470bg', bt2020: 'bt2020' } as const)[primaries] ?? 'bt709'
  const coefficients =
    ({ smpte170m: 'smpte170m', bt470bg: 'bt470bg', bt2020nc: 'bt2020nc' } as const)[matrix] ?? 'bt709'
  const transfer = ({ smpte2084: 'smpte2084', 'arib-std-b67': 'arib-std-b67' } as const)[colorTransfer ?? ''] ?? 'bt709'
  return { matrix: coefficients, primaries: base, transfer }
}

/** Where the source states no bitrate. */
const ASSUMED_KBPS: Readonly<Record<AudioPlan['codec'], number>> = {
  ...{ aac: 256, ac3: 640, mp2: 384, mp3: 320 },
  ...{ opus: 256, flac: 2000, eac3: 1024, pcm: 4608 },
}

/** ISO/IEC 14496-3, table 1.17. Headers may name the core alone, which is all that an older decoder reads. */
const HIGH_EFFICIENCY_AAC = { sbr: 'mp4a.40.5', ps: 'mp4a.40.29' } as const

export function copiedAudio(
  profile: AudioProfile & { sourceStream: number },
  stream: AudioStream,
  language: string | null,
): AudioPlan {
  const { codec, index, sourceStream } = profile
  const sampleRate = stream.sampleRate > 0 ? stream.sampleRate : 48_000
  return {
    profile: index,
    codec,
    channels: stream.channels,
    bitrateKbps: stream.bitrateKbps ?? ASSUMED_KBPS[codec],
    sampleRate,
    sourceStream,
    language,
    silenceUntilSeconds: 0,
    volumePercent: 100,
    loudness: null,
    dialnorm: null,
    bitDepth: null,
    copied:
      stream.highEfficiency === undefined
        ? { frameSeconds: frameSamples[codec] / sampleRate }
        : {
            // The sample rate is the rate of the whole band: twice the rate of the core.
            frameSeconds: (2 * frameSamples[codec]) / sampleRate,
            codecString: HIGH_EFFICIENCY_AAC[stream.highEfficiency],
          },
  }
}
