// In charge of: the schema of the plan that one attempt posts and a later one follows: every member that is read,
// within limits.
// Not in charge of: making the plan (transcoder/plan), whether its paths belong to the job (allowedOutputs.ts). A test
// compares the schema with the transcoder's own types.
import * as z from 'zod/mini'
import { AUDIO_CODECS, AUDIO_CONTAINERS, VIDEO_CODECS } from '../codecs.ts'
import { CAPTION_FORMATS, CHANNELS_608, LANGUAGE_TAG } from '../captions.ts'
import { CAPTION_LABEL_CHARACTERS, CAPTIONS } from '../limits.ts'
import { FILE_CONTAINERS } from '../containers.ts'
import { AUDIO_PURPOSES } from '../job/fields/profiles.ts'
import { PREVIEW_FORMATS, STILL_FORMATS, WAVEFORM_FORMATS } from '../job/fields/extracts.ts'
import { INPUTS, MAX_JOB_PARTS, MAX_STILLS, STILLS } from '../limits.ts'
import { warningCode } from '../warningCodes.ts'

const count = z.number().check(z.int(), z.gte(0), z.lte(1e15))
const amount = z.number().check(z.gte(0), z.lte(1e15))
const seconds = z.nullable(amount)
const rational = z.object({ num: z.number().check(z.gte(0)), den: z.number().check(z.positive()) })
/** A name from ffmpeg: of a codec, a colour matrix, a transfer function. */
const word = z.string().check(z.regex(/^[A-Za-z0-9_.-]{0,40}$/))
const path = z.string().check(z.maxLength(1024))
const pair = z.tuple([amount, amount])
const profile = z.number().check(z.int(), z.gte(0), z.lte(15))

const color = z.object({
  matrix: z.enum(['bt709', 'smpte170m', 'bt470bg', 'bt2020nc']),
  primaries: z.enum(['bt709', 'smpte170m', 'bt470bg', 'bt2020']),
  transfer: z.enum(['bt709', 'smpte170m', 'bt470bg', 'smpte2084', 'arib-std-b67']),
})
const scan = z.enum(['progressive', 'tff', 'bff'])

/** How frames are fitted into the frames of an output. */
const frames = {
  turn: z.literal([0, 90, 180, 270]),
  mirror: z.enum(['none', 'horizontal', 'vertical']),
  cropWidth: count,
  cropHeight: count,
  width: count,
  height: count,
  pictureWidth: count,
  pictureHeight: count,
  barPercent: amount,
  sar: rational,
  frameRate: rational,
  pictureRate: rational,
  deinterlace: z.enum(['none', 'frames', 'fields', 'telecine']),
  scan,
  color,
}

const size = z.object({ width: count, height: count })
const rectangle = z.extend(size, { x: count, y: count })

const video = z.object({
  ...frames,
  codec: z.enum(VIDEO_CODECS),
  quality: z.enum(['good', 'better', 'best']),
  mode: z.enum(['cbr', 'vbr', 'qvbr']),
  bitrateKbps: amount,
  maxKbps: amount,
  bufferBits: amount,
  gopFrames: count,
  bFrames: count,
  spliceFrames: z.array(count),
  logo: z.nullable(z.object({ width: count, height: count, x: z.number(), y: z.number(), opacity: amount })),
  bitmaps: z.optional(z.nullable(rectangle)),
  captions: z.boolean(),
  embedded: z.optional(z.enum(['caption files', 'pieces', 'source'])),
  copied: z.optional(
    z.nullable(
      z.object({
        description: z.string().check(z.maxLength(1000)),
        frames: count,
        leadingFrames: count,
        frameSeconds: amount,
      }),
    ),
  ),
})

/** A channel name of ffmpeg, or a position. */
const channelName = z.string().check(z.regex(/^([A-Z]{2,4}|c\d)$/))

const mix = z.object({
  from: z.optional(
    z.object({
      channels: z.array(z.object({ stream: count, channel: count })).check(z.maxLength(6)),
      longest: count,
    }),
  ),
  gains: z.record(z.string().check(z.regex(/^(FL|FR|FC|LFE|SL|SR)$/)), z.record(channelName, z.number())),
  limited: z.boolean(),
})

const audio = z.object({
  profile,
  codec: z.enum(AUDIO_CODECS),
  channels: z.number().check(z.int(), z.gte(1), z.lte(64)),
  bitrateKbps: amount,
  sampleRate: count,
  sourceStream: count,
  requestedStream: z.optional(count),
  language: z.nullable(z.string().check(z.regex(/^[a-z]{3}$/))),
  mix: z.optional(mix),
  purpose: z.optional(z.enum(AUDIO_PURPOSES)),
  silenceUntilSeconds: z.optional(amount),
  volumePercent: amount,
  loudness: z.nullable(z.object({ gainDb: z.number(), limited: z.boolean() })),
  dialnorm: z.nullable(count),
  bitDepth: z.optional(z.nullable(z.literal([16, 24]))),
  copied: z.optional(z.nullable(z.object({ frameSeconds: amount, codecString: z.optional(z.string()) }))),
})

const rendition = z.object({
  kind: z.enum(['video', 'audio']),
  id: z.string().check(z.regex(/^(video|audio)_\d{1,2}$/)),
  directory: path,
  profile,
  video: z.nullable(video),
  audio: z.array(audio),
  audioRenditions: z.array(z.string().check(z.regex(/^audio_\d{1,2}$/))),
  forms: z.array(z.enum(['cmaf', 'ts', 'smooth'])),
  segmentFrames: count,
  segmentStarts: z.optional(z.nullable(z.object({ frames: z.array(count), seconds: z.array(amount) }))),
})

const channel = z.string().check(z.regex(/^(CC|T|SERVICE)\d{1,2}$/))

const packaging = z.object({
  directory: path,
  hls: z.nullable(z.enum(['cmaf', 'ts'])),
  dash: z.boolean(),
  smooth: z.nullable(path),
  segmentDuration: rational,
  tar: z.nullable(path),
  textTracks: z.boolean(),
  subtitles: z.optional(
    z
      .array(
        z.object({
          id: z.string().check(z.regex(/^sub_\d{1,2}$/)),
          stream: count,
          language: z.nullable(z.string().check(z.regex(/^[a-z]{2,3}$/))),
          forced: z.boolean(),
          hearingImpaired: z.boolean(),
          teletext: z.optional(z.literal(true)),
        }),
      )
      .check(z.maxLength(32)),
  ),
  captionChannels: z.array(channel),
  captionLanguages: z.record(channel, z.string().check(z.regex(/^[a-z]{2,3}$/))),
  embedded: z.optional(
    z
      .array(
        z.object({
          channel: z.enum(CHANNELS_608),
          language: z.nullable(z.string().check(z.regex(LANGUAGE_TAG))),
          label: z.string().check(z.maxLength(CAPTION_LABEL_CHARACTERS)),
        }),
      )
      .check(z.maxLength(CHANNELS_608.length)),
  ),
  thumbnails: z.nullable(
    z.object({
      width: count,
      height: count,
      columns: count,
      rows: count,
      intervalFrames: count,
      intervalSeconds: amount,
      posterWidth: count,
      posterHeight: count,
      posterFrame: count,
    }),
  ),
  programStart: z.number(),
  renditions: z.array(rendition).check(z.minLength(1), z.maxLength(24)),
})

const file = { profile, path, contentType: z.string().check(z.maxLength(100)), durationSeconds: seconds }

const cut = z.nullable(
  z.object({
    startSeconds: amount,
    endSeconds: seconds,
    frames: z.nullable(z.object({ rate: rational, start: count, end: z.nullable(count) })),
    seekOriginSeconds: z.nullable(z.number()),
    movesClock: z.optional(z.boolean()),
  }),
)

const rgb = z.string().check(z.regex(/^#[0-9a-f]{6}(?:[0-9a-f]{2})?$/i))

/** How a file is read. */
const reading = {
  videoOffsetSeconds: z.number(),
  pids: z.nullable(
    z.object({
      video: z.nullable(count),
      audio: z.record(z.string().check(z.regex(/^\d{1,9}$/)), count),
      by: z.optional(z.literal('index')),
    }),
  ),
  picture: z.object({
    alpha: z.optional(z.boolean()),
    decoder: z.optional(z.enum(['libvpx', 'libvpx-vp9'])),
    coded: z.optional(
      z.object({
        width: count,
        height: count,
        sar: rational,
        blankingLines: z.optional(count),
        pixelFormat: word,
        matrix: z.optional(word),
      }),
    ),
    rgb: z.boolean(),
    width: count,
    height: count,
    plain: z.boolean(),
    matrix: word,
    fullRange: z.boolean(),
    primaries: word,
    transfer: word,
    conversion: z.enum(['none', 'toneMap', 'gamut']),
    hdr: z.nullable(
      z.object({
        transfer: z.enum(['smpte2084', 'arib-std-b67']),
        masteringDisplay: z.nullable(
          z.object({ red: pair, green: pair, blue: pair, white: pair, minNits: amount, maxNits: amount }),
        ),
        contentLight: z.nullable(z.object({ maximum: amount, average: amount })),
      }),
    ),
  }),
  fields: z.object({
    parity: z.enum(['auto', 'tff', 'bff']),
    frames: z.enum(['interlaced', 'all']),
    clearFlag: z.boolean(),
  }),
  scaler: z.enum(['zscale', 'scale']),
  disableDrc: z.boolean(),
  deepProbe: z.boolean(),
}

/** `inputs`. */
const join = z.object({
  canvas: z.nullable(
    z.object({
      width: count,
      height: count,
      sar: rational,
      rate: rational,
      scan,
      pixelFormat: z.enum(['yuv420p', 'yuv420p10le']),
      color,
      piece: count,
    }),
  ),
  audio: z.array(z.object({ requestedStream: count, channels: z.literal([2, 6]) })).check(z.maxLength(16)),
  pieces: z
    .array(
      z.object({
        cut: z.optional(cut),
        ...reading,
        startSeconds: z.number(),
        video: z.nullable(z.object(frames)),
        audio: z.array(z.nullable(z.object({ stream: count, mix }))).check(z.maxLength(16)),
        frames: z.nullable(count),
        durationSeconds: seconds,
        hasFixedEnd: z.boolean(),
        captions: z.boolean(),
        subtitles: z.array(z.nullable(count)).check(z.maxLength(32)),
      }),
    )
    .check(z.minLength(2), z.maxLength(INPUTS.maximum)),
})

/** An object that the attempt which divided the job has stored. */
const storedObject = z.object({
  name: z.string().check(z.regex(/^0-[0-9]{1,6}\/[a-z]{1,40}$/)),
  bytes: count,
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
})

/** Unknown members are stored as they are: during a rollout, a newer transcoder may post some. */
export const taskPlanSchema = z.object({
  version: z.literal(2),
  engine: z.optional(
    z.object({
      version: z.string().check(z.regex(/^\S{1,200}$/)),
      build: z.string().check(z.regex(/^[0-9a-f]{1,64}$/)),
      features: z.record(z.string().check(z.regex(/^\w{1,40}$/)), z.boolean()),
    }),
  ),
  cut: z.optional(cut),
  join: z.optional(join),
  division: z.optional(
    z.nullable(
      z.object({
        chunks: z.array(count).check(z.minLength(2), z.maxLength(MAX_JOB_PARTS)),
        seconds: z.optional(amount),
        samplingSeconds: z.optional(amount),
        segmentSeconds: z.optional(z.number().check(z.gt(0), z.lte(60))),
        source: z.optional(
          z.object({ size: z.nullable(count), etag: z.nullable(z.string().check(z.maxLength(1000))) }),
        ),
        survey: z.optional(
          z.object({
            parts: count.check(z.gte(2), z.lte(MAX_JOB_PARTS)),
            factors: z.array(z.number().check(z.gte(0), z.lte(51))).check(z.maxLength(64)),
          }),
        ),
        rateFactors: z.optional(z.array(z.nullable(z.number().check(z.gte(0), z.lte(51)))).check(z.maxLength(64))),
        subtitles: z.optional(storedObject),
      }),
    ),
  ),
  packaging: z.nullable(packaging),
  durationSeconds: seconds,
  sourceAudio: z.array(count),
  ...reading,
  hevcCaptionsOption: z.boolean(),
  cues: z.nullable(z.object({ pid: count, streamType: count })),
  subtitles: z.optional(
    z
      .array(z.object({ pid: count, kind: z.enum(['teletext', 'subtitles']), languages: z.nullable(z.string()) }))
      .check(z.maxLength(100)),
  ),
  service: z.nullable(
    z.object({
      profile: z.nullable(z.enum(['dvb', 'atsc'])),
      name: z.string(),
      provider: z.string(),
      id: count,
      transportStreamId: count,
      mapPid: count,
      videoPid: count,
      audioPid: count,
    }),
  ),
  sidecars: z.optional(
    z
      .array(
        z.object({
          caption: count,
          format: z.enum(CAPTION_FORMATS),
          language: z.nullable(z.string().check(z.regex(LANGUAGE_TAG))),
          label: z.string().check(z.maxLength(CAPTION_LABEL_CHARACTERS)),
          isDefault: z.boolean(),
          forced: z.boolean(),
          hearingImpaired: z.boolean(),
          cues: count,
          embed: z.optional(z.nullable(z.array(z.enum(CHANNELS_608)))),
        }),
      )
      .check(z.maxLength(CAPTIONS.maximum)),
  ),
  burnIn: z.optional(
    z.nullable(
      z.discriminatedUnion('kind', [
        z.object({
          kind: z.literal('text'),
          from: z.discriminatedUnion('kind', [
            z.object({ kind: z.literal('caption'), caption: count }),
            z.object({ kind: z.literal('source track'), track: count, stream: count }),
          ]),
          font: z.string().check(z.regex(/^[A-Za-z ]{1,40}$/)),
          cues: count,
        }),
        z.object({
          kind: z.literal('bitmap'),
          from: z.object({ kind: z.literal('source track'), track: count, stream: count }),
          codec: word,
          drawn: z.nullable(z.object({ canvas: size, area: rectangle })),
          cues: count,
        }),
      ]),
    ),
  ),
  outputs: z
    .array(
      z.object({
        ...file,
        container: z.enum(FILE_CONTAINERS),
        video,
        audio: z.array(audio),
        expectedBytes: amount,
        headerReserveBytes: z.nullable(amount),
        muxRateKbps: z.nullable(amount),
      }),
    )
    .check(z.maxLength(16)),
  audioFiles: z
    .array(
      z.object({
        ...file,
        container: z.enum(AUDIO_CONTAINERS),
        isExact: z.optional(z.boolean()),
        audio,
        expectedBytes: amount,
      }),
    )
    .check(z.maxLength(8)),
  extracts: z.optional(
    z.nullable(
      z.object({
        frames: z.nullable(
          z.object({
            video: z.object(frames),
            picture: reading.picture,
            fields: reading.fields,
            cut,
            offsetSeconds: z.number(),
            seekOriginSeconds: z.nullable(z.number()),
            seekSeconds: seconds,
            separate: z.boolean(),
          }),
        ),
        stills: z
          .array(
            z.object({
              index: count,
              format: z.enum(STILL_FORMATS),
              contentType: z.string().check(z.maxLength(100)),
              quality: count,
              width: count,
              height: count,
              images: z.array(z.object({ path, frame: count })).check(z.maxLength(MAX_STILLS)),
            }),
          )
          .check(z.maxLength(STILLS.maximum)),
        preview: z.nullable(
          z.object({
            format: z.enum(PREVIEW_FORMATS),
            path,
            contentType: z.string().check(z.maxLength(100)),
            width: count,
            height: count,
            framesPerSecond: amount,
            frames: z.array(count).check(z.minLength(1), z.maxLength(2000)),
          }),
        ),
        waveform: z.nullable(
          z.object({
            format: z.enum(WAVEFORM_FORMATS),
            path,
            contentType: z.string().check(z.maxLength(100)),
            sourceStream: count,
            sampleRate: count,
            sourceChannels: count,
            channels: count,
            samplesPerPixel: count,
            bits: z.literal([8, 16]),
            width: count,
            height: count,
            backgroundColor: rgb,
            waveformColor: rgb,
            durationSeconds: seconds,
          }),
        ),
      }),
    ),
  ),
  warnings: z.array(z.object({ code: warningCode, field: z.optional(z.string()), message: z.string() })),
})
export type PostedPlan = z.infer<typeof taskPlanSchema>
