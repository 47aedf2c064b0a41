// In charge of: the single files of a divided job: the tracks that one part encodes for all of them, and the plan that
// copies what the parts encoded into the files.
// Not in charge of: the video of chunks (encodedSegments.ts), reading what is stored (transcoder/division/workObjects.ts).
import type { AudioFilePlan, AudioPlan, Plan } from '../model/plan.ts'
import type { VideoPlan } from '../model/videoPlan.ts'

/** For the boxes of mp4, and for rates above the requested ones. */
const OVERHEAD = 1.1
/** Half a day, where the source does not state its length. */
const UNKNOWN_SECONDS = 12 * 3600

/** Each track of the outputs once, as files that are not outputs. */
export function intermediateTracks({ outputs, durationSeconds }: Plan): AudioFilePlan[] {
  return distinctTracks(outputs.flatMap(({ audio }) => audio)).map((audio, index) => ({
    profile: audio.profile,
    path: `audio_${index}`,
    container: 'm4a',
    contentType: 'audio/mp4',
    isIntermediate: true,
    audio,
    // The files that it is copied into are checked.
    durationSeconds: null,
    expectedBytes: Math.ceil((durationSeconds ?? UNKNOWN_SECONDS) * audio.bitrateKbps * 125 * OVERHEAD),
  }))
}

/** The whole plan with stored streams in place of the source: the inputs are each output's video, then each track. */
export function copyPlan(whole: Plan): Plan {
  const tracks = distinctTracks(whole.outputs.flatMap(({ audio }) => audio))
  return {
    ...whole,
    stored: {
      videos: whole.outputs.map(({ video }) => video.codec),
      tracks: whole.outputs.map(({ audio }) => audio.map((track) => tracks.findIndex((each) => isSame(each, track)))),
    },
    // All times are those of the outputs.
    cut: null,
    videoOffsetSeconds: 0,
    audioFiles: [],
    extracts: null,
    burnIn: null,
    outputs: whole.outputs.map((output) => ({
      ...output,
      video: copiedVideo(output.video),
      audio: output.audio.map(copiedTrack),
    })),
  }
}

function copiedVideo(video: VideoPlan): VideoPlan {
  const { num, den } = video.frameRate
  const copied = { description: '', frames: 0, leadingFrames: 0, frameSeconds: den / num, isOwn: true }
  return { ...video, logo: null, bitmaps: null, copied }
}

function copiedTrack(audio: AudioPlan): AudioPlan {
  return { ...audio, copied: audio.copied ?? { frameSeconds: 0 } }
}

function distinctTracks(tracks: readonly AudioPlan[]): AudioPlan[] {
  return tracks.filter((track, index) => tracks.findIndex((each) => isSame(each, track)) === index)
}

function isSame(a: AudioPlan, b: AudioPlan): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
