// In charge of: the outputs of a divided job: the tracks that one part encodes for all of them, and the plan that copies
// what the parts encoded into the outputs.
// Not in charge of: the video of chunks (encodedSegments.ts), reading what is stored (transcoder/upload/workObjects.ts).
import { segmentForms } from '../../plan/forms.ts'
import type { StoredTrack, AudioFilePlan, Plan } from '#contract/task/plan/plan.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { RenditionPlan } from '#contract/task/plan/packagingPlan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/** For the boxes of mp4, and for rates above the requested ones. */
const OVERHEAD = 1.1
/** Half a day, where the source does not state its length. */
const UNKNOWN_SECONDS = 12 * 3600

/** Each track of the outputs once, as files that are not outputs. */
export function intermediateTracks(plan: Plan): AudioFilePlan[] {
  return distinctTracks(plan).map(({ audio, trimmed }, index) => ({
    profile: audio.profile,
    path: `audio_${index}`,
    container: 'm4a',
    contentType: 'audio/mp4',
    isExact: false,
    isIntermediate: true,
    isTrimmed: trimmed,
    audio,
    // The outputs that it is copied into are checked.
    durationSeconds: null,
    expectedBytes: Math.ceil((plan.durationSeconds ?? UNKNOWN_SECONDS) * audio.bitrateKbps * 125 * OVERHEAD),
  }))
}

/** The whole plan with stored streams in place of the source: the inputs are each output's video, then each track. */
export function copyPlan(whole: Plan): Plan {
  const { packaging, outputs } = whole
  const videos =
    packaging === null ? outputs.map(({ video }) => video) : packaging.renditions.flatMap(({ video }) => video ?? [])
  return {
    ...whole,
    reads: {
      kind: 'stored',
      stored: {
        videos: videos.map(({ codec }) => codec),
        tracks: distinctTracks(whole).map(({ audio, trimmed }) => ({ audio: ownTrack(audio), trimmed })),
      },
    },
    // All times count on the clock of the outputs.
    cut: null,
    videoOffsetSeconds: 0,
    audioFiles: [],
    extracts: null,
    burnIn: null,
    outputs: outputs.map((output) => ({
      ...output,
      video: ownVideo(output.video),
      audio: output.audio.map(ownTrack),
    })),
    packaging:
      packaging === null
        ? null
        : {
            ...packaging,
            textTracks: false,
            subtitles: [],
            thumbnails: null,
            renditions: packaging.renditions.map((rendition) => ({
              ...rendition,
              video: rendition.video === null ? null : ownVideo(rendition.video),
              audio: rendition.audio.map(ownTrack),
            })),
          },
  }
}

function ownVideo(video: VideoPlan): VideoPlan {
  const { num, den } = video.frameRate
  const copied = { description: '', frames: 0, leadingFrames: 0, frameSeconds: den / num, isOwn: true }
  return { ...video, logo: null, bitmaps: null, copied }
}

function ownTrack(audio: AudioPlan): AudioPlan {
  return { ...audio, copied: audio.copied ?? { frameSeconds: 0, isOwn: true } }
}

function distinctTracks({ packaging, outputs }: Plan): StoredTrack[] {
  const all = [
    ...outputs.flatMap(({ audio }) => audio.map((each) => ({ audio: each, trimmed: false }))),
    ...(packaging?.renditions ?? []).flatMap(renditionTracks),
  ]
  const names = all.map((each) => JSON.stringify(each))
  return all.filter((_each, index) => names.indexOf(names[index]!) === index)
}

/** As its forms are encoded without a division (argv/segmentArgs.ts). */
function renditionTracks({ kind, audio, forms }: RenditionPlan): StoredTrack[] {
  const needed = new Set(forms.map((form) => !segmentForms[form].carriesAudio))
  return audio.flatMap((track) =>
    [...(kind === 'audio' ? needed : [false])].map((trimmed) => ({
      audio: track,
      // A copied track has no delay of an encoder.
      trimmed: trimmed && track.copied == null,
    })),
  )
}
