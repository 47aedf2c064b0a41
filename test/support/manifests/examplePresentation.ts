// In charge of: an invented presentation with everything that manifests describe: two video renditions, two audio
// codecs, captions, cues, thumbnails.
// Not in charge of: expectations.
import { attemptDirectory } from '#contract/job/paths/outputNames.ts'
import type {
  AudioTrack,
  CueEvent,
  KeyFrame,
  Presentation,
  Segment,
  VideoTrack,
} from '../../../transcoder/manifests/presentation/presentation.ts'

const RUN = attemptDirectory('job-1', 2)
const HASH = 'ab'.repeat(32)

/** Segments that end at these seconds, rounded to ticks. */
export function makeSegments(timescale: number, ends: readonly number[], kilobytes: readonly number[]): Segment[] {
  let start = 0
  return ends.map((end, at) => {
    const stop = Math.round(end * timescale)
    const segment = {
      uri: `${RUN}/${String(at + 1).padStart(5, '0')}.m4s`,
      start,
      duration: stop - start,
      bytes: (kilobytes[at] ?? kilobytes.at(-1)!) * 1000,
      sha256: HASH,
    }
    start = stop
    return segment
  })
}

function keyFrames(track: readonly Segment[]): KeyFrame[] {
  return track.flatMap(({ start, duration, bytes }, segment) => {
    const half = Math.floor(duration / 2)
    const size = Math.floor(bytes / 10)
    return [
      { segment, start, duration: half, offset: 0, bytes: size },
      { segment, start: start + half, duration: duration - half, offset: Math.floor(bytes / 2), bytes: size },
    ]
  })
}

/** Segments end at the splice at 10 s: 6, 10, 12, 18, 20.4. */
export const SEGMENT_ENDS = [6, 10, 12, 18, 20.4]

export function makeVideoTrack(fields: Partial<VideoTrack> = {}): VideoTrack {
  const list = fields.segments ?? makeSegments(12800, SEGMENT_ENDS, [600, 500, 300, 450, 200])
  return {
    kind: 'video',
    id: 'video_0',
    directory: 'video_0',
    form: 'cmaf',
    timescale: 12800,
    init: { uri: `${RUN}/init.mp4`, bytes: 800, sha256: HASH },
    codecs: ['avc1.64001f'],
    segments: list,
    profile: 0,
    width: 1280,
    height: 720,
    sar: { num: 1, den: 1 },
    frameRate: { num: 25, den: 1 },
    range: 'SDR',
    keyFrames: keyFrames(list),
    muxedAudio: [],
    audioTracks: ['audio_0', 'audio_1', 'audio_2'],
    captionChannels: ['CC1', 'SERVICE1'],
    codecPrivateData: '',
    ...fields,
  }
}

export function makeAudioTrack(
  at: number,
  format: Partial<AudioTrack['format']> = {},
  fields: Partial<AudioTrack> = {},
): AudioTrack {
  const full = { codec: 'mp4a.40.2', channels: 2, sampleRate: 48_000, bitrateKbps: 128, language: 'eng', ...format }
  // Whole frames of 1024 samples; audio segments end at or after the video boundaries.
  const ends = SEGMENT_ENDS.map((end) => (Math.ceil((end * 48_000) / 1024) * 1024) / 48_000)
  return {
    kind: 'audio',
    id: `audio_${at}`,
    directory: `audio_${at}`,
    form: 'cmaf',
    timescale: 48_000,
    init: { uri: `${RUN}/init.mp4`, bytes: 700, sha256: HASH },
    codecs: [full.codec],
    segments: makeSegments(48_000, ends, [full.bitrateKbps]),
    profile: at,
    format: full,
    codecPrivateData: '',
    ...fields,
  }
}

export const SECTION = Uint8Array.of(
  0xfc,
  0x30,
  0x11,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  0xff,
  0xf0,
  0,
  0,
  0,
  0,
  0x7a,
  0x4f,
  0xbf,
  0xff,
)

export function makeCueEvent(fields: Partial<CueEvent>): CueEvent {
  return { id: 'out-7-900000', start: 10, duration: null, kind: 'out', eventId: 7, section: SECTION, ...fields }
}

export function examplePresentation(fields: Partial<Presentation> = {}): Presentation {
  const small = makeSegments(12800, SEGMENT_ENDS, [200, 160, 90, 150, 70])
  return {
    duration: 20.4,
    segmentSeconds: 6,
    programStart: 0,
    video: [
      makeVideoTrack(),
      makeVideoTrack({
        id: 'video_1',
        directory: 'video_1',
        profile: 1,
        width: 720,
        height: 576,
        sar: { num: 64, den: 45 },
        segments: small,
        keyFrames: keyFrames(small),
        codecs: ['avc1.64001e'],
      }),
    ],
    audio: [
      makeAudioTrack(0),
      makeAudioTrack(1, { language: 'ger' }),
      makeAudioTrack(2, { codec: 'ac-3', channels: 6, bitrateKbps: 384 }),
    ],
    text: [
      {
        kind: 'text',
        purpose: 'captions',
        id: 'captions_0',
        directory: 'captions/CC1',
        channel: 'CC1',
        name: 'CC1',
        language: 'eng',
        isDefault: false,
        timescale: 1000,
        segments: makeSegments(1000, SEGMENT_ENDS, [1]).map((one) => ({
          ...one,
          uri: one.uri.replace('.m4s', '.vtt'),
        })),
        fullFile: { uri: `${RUN}/captions.vtt`, bytes: 4000, sha256: HASH },
      },
    ],
    thumbnails: {
      directory: 'thumbnails',
      width: 160,
      height: 90,
      columns: 2,
      rows: 2,
      intervalSeconds: 2,
      sheets: makeSegments(1000, [8, 16, 20.4], [20]).map((one) => ({ ...one, uri: one.uri.replace('.m4s', '.jpg') })),
      vtt: { uri: `${RUN}/thumbnails.vtt` },
      poster: { uri: `${RUN}/poster.jpg`, bytes: 9000, sha256: HASH },
    },
    cues: [
      makeCueEvent({ duration: 2 }),
      makeCueEvent({ id: 'in-7-1080000', kind: 'in', start: 12 }),
      makeCueEvent({ id: 'other-1', kind: 'other', start: 13, eventId: null }),
    ],
    hasCaptions: true,
    ...fields,
  }
}
