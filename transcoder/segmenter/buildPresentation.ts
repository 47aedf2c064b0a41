// In charge of: building the presentation of one set of segments, from which manifests are written, out of the recorded
// segments.
// Not in charge of: recording segments (segmentWriter.ts), writing manifests (manifests/).
import type {
  AudioFormat,
  AudioTrack,
  CueEvent,
  KeyFrame,
  Presentation,
  VideoTrack,
} from '../manifests/presentation/presentation.ts'
import type { SegmentForm } from '#contract/codecs.ts'
import { segmentForms } from '../plan/forms.ts'
import { programmeOf } from '../plan/model/channelMix.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import type { ColorTags, VideoPlan } from '#contract/task/plan/videoPlan.ts'
import type { RecordedSegment } from './segmentWriter.ts'
import type { RecordedRendition } from './segmentCheck.ts'

/** The tracks of one form. Smooth has its manifest in a directory of its own, which contains its tracks. */
export function buildPresentation(
  packaging: PackagingPlan,
  all: readonly RecordedRendition[],
  form: SegmentForm,
  cues: CueEvent[],
): Presentation {
  const renditions = all.filter((each) => each.form === form)
  const video = renditions
    .filter(({ rendition }) => rendition.kind === 'video')
    .map((each) => videoTrack(packaging, each, renditions))
  const first = video[0]
  const audio = renditions.filter(({ rendition }) => rendition.kind === 'audio').map(audioTrack)
  // Audio that ends within the last video segment does not extend the presentation; additional audio segments do.
  const count = first?.segments.length ?? 0
  // Without video, the longest audio is the presentation.
  const duration = Math.max(0, ...[first, ...audio.filter(({ segments }) => segments.length > count)].map(trackSeconds))
  const hasCaptions = video.some(({ captionChannels }) => captionChannels.length > 0)
  return {
    duration,
    segmentSeconds: packaging.segmentDuration.num / packaging.segmentDuration.den,
    programStart: packaging.programStart,
    video,
    audio,
    text: [],
    thumbnails: null,
    cues,
    hasCaptions,
    ...(packaging.embedded.length === 0 ? {} : { embedded: packaging.embedded }),
  }
}

/** The time at which a track ends; 0 if it has no segments. */
export function trackSeconds(track: VideoTrack | AudioTrack | undefined): number {
  const last = track?.segments.at(-1)
  return track === undefined || last === undefined ? 0 : (last.start + last.duration) / track.timescale
}

/** RFC 8216bis, 4.4.6.2: VIDEO-RANGE by the transfer characteristics of the output. */
const RANGES: Partial<Record<ColorTags['transfer'], VideoTrack['range']>> = { smpte2084: 'PQ', 'arib-std-b67': 'HLG' }

function mediaTrack(each: RecordedRendition) {
  const { rendition, form, recorded, timescale, codecs, codecPrivateData } = each
  const segments = recorded.segments.map(({ uri, start, duration, bytes, sha256 }) => {
    return { uri, start, duration, bytes, sha256 }
  })
  const directory = each.directory
  const { id, profile } = rendition
  const privateData = form === 'smooth' ? codecPrivateData : ''
  return {
    id,
    profile,
    directory,
    form,
    timescale,
    init: recorded.init,
    codecs: codecStrings(rendition.audio, codecs),
    segments,
    codecPrivateData: privateData,
  }
}

function videoTrack(
  packaging: PackagingPlan,
  each: RecordedRendition,
  renditions: readonly RecordedRendition[],
): VideoTrack {
  const { rendition, form, recorded } = each
  const video = rendition.video!
  const muxed = segmentForms[form].carriesAudio ? rendition.audio : []
  const audio = rendition.audioRenditions.filter((id) => renditions.some((other) => other.rendition.id === id))
  const media = mediaTrack(each)
  return {
    ...media,
    kind: 'video',
    width: video.width,
    height: video.height,
    sar: video.sar,
    frameRate: video.frameRate,
    range: RANGES[video.color.transfer] ?? 'SDR',
    keyFrames: keyFrames(recorded.segments),
    muxedAudio: muxed.map((track, index) => audioFormat(track, media.codecs[index + 1] ?? '')),
    audioTracks: muxed.length > 0 ? [] : audio,
    captionChannels: frameChannels(packaging, video),
  }
}

/** The caption channels in the frames of a rendition. */
export function frameChannels(packaging: PackagingPlan, video: VideoPlan): string[] {
  if (video.embedded === 'pieces') return packaging.captionChannels.filter((channel) => !channel.startsWith('SERVICE'))
  if (video.embedded === 'caption files') return packaging.embedded.map(({ channel }) => channel)
  return video.captions ? packaging.captionChannels : []
}

function audioTrack(each: RecordedRendition): AudioTrack {
  const [track] = each.rendition.audio
  const media = mediaTrack(each)
  return { ...media, kind: 'audio', format: audioFormat(track!, media.codecs[0] ?? '') }
}

/** `found`: the codec strings of the video, if there is one, and then of the audio. */
function codecStrings(audio: readonly AudioPlan[], found: readonly string[]): string[] {
  const before = Math.max(0, found.length - audio.length)
  return found.map((codec, at) => audio[at - before]?.copied?.codecString ?? codec)
}

function audioFormat(track: AudioPlan, codec: string): AudioFormat {
  const { channels, sampleRate, bitrateKbps, language, purpose } = track
  const own = { codec, channels, sampleRate, bitrateKbps, language, programme: programmeOf(track) }
  return purpose === undefined ? own : { ...own, purpose }
}

/**
 * Enough for a day of GOPs of 4 s. More would make playlists too large for a message to the task API; then only every
 * second, third, … key frame is listed.
 */
const MAX_KEY_FRAMES = 20_000

function keyFrames(segments: readonly RecordedSegment[]): KeyFrame[] {
  const all = segments.flatMap((segment, index) => segment.keys.map((key) => ({ ...key, segment: index })))
  const step = Math.ceil(all.length / MAX_KEY_FRAMES)
  const keys = all.filter((_key, index) => index % step === 0)
  const last = segments.at(-1)
  const end = last === undefined ? 0 : last.start + last.duration
  return keys.map(({ segment, start, offset, bytes }, index) => {
    return { segment, start, duration: (keys[index + 1]?.start ?? end) - start, offset, bytes }
  })
}
