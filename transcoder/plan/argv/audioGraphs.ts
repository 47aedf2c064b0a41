// In charge of: the filter graphs of the source's audio: one for each stream, or one for each track that another process
// has decoded (steadyAudio.ts). ffmpeg makes a graph anew where the channels of its source change, and ffmpeg 7 ends with
// SIGABRT where one of several inputs has no data.
// Not in charge of: the filters of a track (filters.ts), the video (ffmpegArgs.ts).
import { defaultMix } from '../audio/downmix.ts'
import { audioEncodings } from '../codecs.ts'
import type { AudioStream } from '../model/mediaInfo.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { audioPad } from '../streams/programSelection.ts'
import { waveformBranch } from './extractArgs.ts'
import { isJoined, joinChains } from './audioSources.ts'
import { buildSharedGraph } from './filterGraph.ts'
import { audioFilters, mixOf } from './filters.ts'
import { encoderDelayTrim, plannedEncodes } from './segmentArgs.ts'
import { distinctTracks, steadyMix, steadyPad, type SteadyTrack } from './steadyAudio.ts'

/** What the filter graph feeds: the outputs, or the renditions of segmented output. */
export function muxedEncodes(plan: Plan): { video: VideoPlan | null; audio: AudioPlan[]; trimmed: boolean }[] {
  return plan.packaging === null ? plan.outputs.map((output) => ({ ...output, trimmed: false })) : plannedEncodes(plan)
}

export function steadyTracksOf(plan: Plan): SteadyTrack[] {
  return distinctTracks(audioBranches(plan).flatMap(({ steady }) => (isJoined(steady) ? [] : [steady])))
}

/** `streams`: of the source. */
export function withSteadyMixes(plan: Plan, streams: readonly AudioStream[]): Plan {
  const withMix = (audio: AudioPlan): AudioPlan => ({
    ...audio,
    mix: steadyMix(mixOf(audio), streams.find(({ number }) => number === audio.sourceStream)?.channels ?? 0),
  })
  return {
    ...plan,
    outputs: plan.outputs.map((output) => ({ ...output, audio: output.audio.map(withMix) })),
    audioFiles: plan.audioFiles.map((file) => ({ ...file, audio: withMix(file.audio) })),
    packaging:
      plan.packaging === null
        ? null
        : {
            ...plan.packaging,
            renditions: plan.packaging.renditions.map((each) => ({ ...each, audio: each.audio.map(withMix) })),
          },
  }
}

interface AudioBranch {
  label: string
  filters: (isMixed: boolean) => string[]
  steady: SteadyTrack
}

/** What is decoded of the source's audio. */
function audioBranches(plan: Plan): AudioBranch[] {
  const waveform = plan.extracts?.waveform ?? null
  const tracks = [
    ...muxedEncodes(plan).flatMap(({ audio, trimmed }, position) =>
      audio.map((track, trackIndex) => ({
        track,
        label: `a${position}_${trackIndex}`,
        more: trimmed ? encoderDelayTrim(track) : [],
      })),
    ),
    ...plan.audioFiles.map((file, position) => ({
      track: file.audio,
      label: `f${position}`,
      more: file.isTrimmed === true ? encoderDelayTrim(file.audio) : [],
    })),
  ].filter(({ track }) => track.copied === null)
  return [
    ...tracks.map(({ track, label, more }): AudioBranch => ({
      label,
      filters: (isMixed) => [...audioFilters(track, plan.cut, isMixed), ...more],
      steady: {
        stream: track.sourceStream,
        sampleRate: track.sampleRate,
        mix: mixOf(track),
        surrounds: audioEncodings[track.codec].surrounds,
      },
    })),
    ...(waveform === null
      ? []
      : [
          {
            ...waveformBranch(plan.cut, waveform),
            steady: {
              stream: waveform.sourceStream,
              sampleRate: waveform.sampleRate,
              mix: defaultMix(waveform.sourceChannels > 2 ? 6 : 2),
              surrounds: 'back' as const,
            },
          },
        ]),
  ]
}

/** `steadyAt`: the input from which all of it comes; null = the source. */
export function audioGraphs(plan: Plan, steadyAt: number | null): string[][] {
  const all = audioBranches(plan)
  const branches = all.filter(({ steady }) => !isJoined(steady))
  const joined = all.filter(({ steady }) => isJoined(steady))
  const streams = [...new Set([...plan.sourceAudio, ...branches.map(({ steady }) => steady.stream)])]
  const tracks = distinctTracks(branches.map(({ steady }) => steady))
  const padOf = ({ steady }: AudioBranch) =>
    steadyAt === null ? audioPad(plan, steady.stream) : steadyPad(tracks, steady, steadyAt)
  const graphs = joined.map(({ label, filters, steady: { mix, sampleRate } }) => [
    ...joinChains(mix, `j_${label}`, { pad: (stream) => audioPad(plan, stream), sampleRate }),
    ...buildSharedGraph(`[j_${label}]`, [{ label, filters: filters(false) }], 'asplit'),
  ])
  const ofStreams = streams.flatMap((stream) => {
    const byPad = Map.groupBy(
      branches.filter(({ steady }) => steady.stream === stream),
      padOf,
    )
    return [...byPad].map(([pad, own]) =>
      buildSharedGraph(
        `[${pad}]`,
        own.map(({ label, filters }) => ({ label, filters: filters(steadyAt !== null) })),
        'asplit',
      ),
    )
  })
  return [...ofStreams, ...graphs]
}
