// In charge of: the media facts of segmented output: of each media playlist, and of the playlists and manifests that
// list all tracks.
// Not in charge of: the playlists and manifests themselves (manifests/).
import type { SegmentedStream } from '../segmenter/segmentedStream.ts'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { joinPath } from '#contract/job/paths/outputNames.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { Attempt } from '../attempt.ts'
import { detectCaptions } from '../analysis/streamDetails.ts'
import { playlistPath } from '../manifests/hls/mediaPlaylist.ts'
import type { AudioTrack, Presentation, TextTrack, VideoTrack } from '../manifests/presentation/presentation.ts'
import { averageRate, peakRate, presentationTargetDuration } from '../manifests/presentation/segmentBitrates.ts'
import { tarPlaylistName } from '../manifests/tar/tarPlaylists.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import { type Rational, approximate, distance, ratio } from '../formats/rational.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import { probe } from '../analysis/probe.ts'
import { frameChannels, trackSeconds } from '../segmenter/buildPresentation.ts'
import type { RecordedRendition } from '../segmenter/segmentCheck.ts'
import { kbps, roundSeconds, trackFacts } from './mediaSummary.ts'

type Captions = MediaFacts['captions']

/** What was probed in one rendition. */
export interface ProbedRendition {
  media: MediaInfo
  /** Caption channels in the frames; empty if there are none. */
  captions: string[]
}

/** The facts by path below the packaging directory. `seen` is indexed by the id of the rendition. */
export function analyzePresentation(
  packaging: PackagingPlan,
  streams: readonly SegmentedStream[],
  probed: ReadonlyMap<string, ProbedRendition>,
  sets: { hls: Presentation | null; dash: Presentation | null; smooth: Presentation | null },
): Map<string, MediaFacts> {
  const facts = new Map<string, MediaFacts>()
  for (const [kind, set] of Object.entries(sets) as [keyof typeof sets, Presentation | null][]) {
    if (set === null) continue
    const all = new PresentationAnalyzer(packaging, set, streams, probed)
    if (kind === 'hls') {
      for (const track of [...set.video, ...set.audio]) {
        facts.set(playlistPath(track), all.analyzeTrack(track))
        facts.set(tarPlaylistName(track), all.analyzeTrack(track))
      }
      facts.set('master.m3u8', all.analyzeMultivariant(playlistPath))
      facts.set('tar.m3u8', all.analyzeMultivariant(tarPlaylistName))
    } else if (kind === 'dash')
      for (const path of ['manifest.mpd', 'tar.mpd'])
        facts.set(
          path,
          all.analyzeMultivariant(({ directory }) => directory),
        )
    else
      facts.set(
        `${packaging.smooth}/Manifest`,
        all.analyzeMultivariant(({ directory }) => directory),
      )
  }
  return facts
}

/** Concurrent probes: each uses one core for a short time. */
const MAX_PROBES = 2

/**
 * Probes one form of each rendition: the content of the segments is the same in all forms. Throws errors that end the
 * attempt, and an error if a stream cannot be probed.
 */
export async function probeRenditions(
  attempt: Attempt,
  packaging: PackagingPlan,
  { streams, hasCaptions }: { streams: readonly SegmentedStream[]; hasCaptions: boolean },
): Promise<ReadonlyMap<string, ProbedRendition>> {
  const { engine, workspace, controller } = attempt
  const dirs = { cwd: workspace.cwd, scratch: workspace.out, signal: controller.signal }
  const probed = new Map<string, ProbedRendition>()
  const firsts = streams.filter(
    ({ recorded }, index) =>
      streams.findIndex((other) => other.recorded.rendition.id === recorded.rendition.id) === index,
  )
  const queue = firsts.entries()
  const probeNext = async (): Promise<void> => {
    for (const [index, { recorded, metered }] of queue) {
      const { id, video } = recorded.rendition
      const path = join(workspace.out, `head-${index}`)
      await writeFile(path, metered.head)
      try {
        const media = withoutLengths(await probe(engine, `file:${path}`, dirs))
        const present =
          video?.captions === true && (hasCaptions || video.embedded !== null) && media.video !== null
            ? await detectCaptions(engine, `file:${path}`, media.video, dirs)
            : []
        // Channels that begin later are known from the source.
        const known = video === null ? [] : frameChannels(packaging, video)
        const captions = present.length === 0 ? [] : [...new Set([...known, ...present])]
        probed.set(id, { media, captions })
      } finally {
        await rm(path, { force: true })
      }
    }
  }
  await Promise.all(Array.from({ length: MAX_PROBES }, probeNext))
  return probed
}

/** The probed lengths belong to the head, not to the stream. */
function withoutLengths(media: MediaInfo): MediaInfo {
  return {
    ...media,
    durationSeconds: null,
    video: media.video && { ...media.video, durationSeconds: null },
    audio: media.audio.map((stream) => ({ ...stream, durationSeconds: null })),
  }
}

class PresentationAnalyzer {
  readonly #packaging: PackagingPlan
  readonly #set: Presentation
  readonly #streams: readonly SegmentedStream[]
  readonly #probed: ReadonlyMap<string, ProbedRendition>
  readonly #target: number

  constructor(
    packaging: PackagingPlan,
    set: Presentation,
    streams: readonly SegmentedStream[],
    seen: ReadonlyMap<string, ProbedRendition>,
  ) {
    this.#packaging = packaging
    this.#set = set
    this.#streams = streams
    this.#probed = seen
    this.#target = presentationTargetDuration(set)
  }

  analyzeTrack(track: VideoTrack | AudioTrack): MediaFacts {
    const seconds = trackSeconds(track)
    const stream = this.#streams.find(
      ({ recorded: { rendition, form } }) => rendition.id === track.id && form === track.form,
    )
    const seen = this.#probed.get(track.id)
    const tracks =
      seen === undefined || stream === undefined
        ? { video: null, audio: [] }
        : trackFacts({
            media: seen.media,
            counts: stream.metered.counts,
            seconds,
            codecString: track.kind === 'video' ? (track.codecs[0] ?? null) : null,
            frameRate: measuredFrameRate(stream.recorded, seen.media),
          })
    return {
      duration_seconds: roundSeconds(seconds),
      average_bitrate_kbps: kbps(averageRate(track) / 1000),
      peak_bitrate_kbps: kbps(peakRate(track, this.#target) / 1000),
      ...tracks,
      captions: (seen?.captions ?? []).map((name) => this.#caption('embedded', name)),
    }
  }

  /**
   * The facts of a playlist from which a player chooses: its highest rendition, every audio track, and an entry for
   * each rendition.
   */
  analyzeMultivariant(pathOf: (track: VideoTrack) => string): MediaFacts {
    const { video, audio, text, duration } = this.#set
    const renditions = video.map((track) => ({
      path: joinPath(this.#packaging.directory, pathOf(track)),
      width: track.width,
      height: track.height,
      average_bitrate_kbps: this.#combinedRate(track, averageRate),
      peak_bitrate_kbps: this.#combinedRate(track, (one) => peakRate(one, this.#target)),
    }))
    const rates = renditions.map((rendition) => rendition.average_bitrate_kbps)
    const at = rates.indexOf(Math.max(...rates))
    const highest = video[at] === undefined ? null : this.analyzeTrack(video[at])
    const most = (rate: (one: AudioTrack) => number) =>
      audio.length === 0 ? 0 : kbps(Math.max(...audio.map(rate)) / 1000)
    return {
      duration_seconds: roundSeconds(duration),
      average_bitrate_kbps: renditions[at]?.average_bitrate_kbps ?? most(averageRate),
      peak_bitrate_kbps: renditions[at]?.peak_bitrate_kbps ?? most((one) => peakRate(one, this.#target)),
      video: highest?.video ?? null,
      audio: [...(highest?.audio ?? []), ...audio.flatMap((track) => this.analyzeTrack(track).audio)],
      captions: [
        ...(highest?.captions ?? []),
        ...text.map(({ name, language }): Captions[number] => ({ kind: 'webvtt', name, language })),
      ],
      renditions,
    }
  }

  /** RFC 8216bis, 4.4.6.2: the sum with the largest rendition of each kind that is played with it. kbps. */
  #combinedRate(track: VideoTrack, rate: (one: VideoTrack | AudioTrack | TextTrack) => number): number {
    const { audio, text } = this.#set
    const audioTracks = audio.filter(({ id }) => track.audioTracks.includes(id))
    return kbps((rate(track) + Math.max(0, ...audioTracks.map(rate)) + Math.max(0, ...text.map(rate))) / 1000)
  }

  #caption(kind: Captions[number]['kind'], name: string): Captions[number] {
    const { embedded, captionLanguages } = this.#packaging
    const own = embedded?.find(({ channel }) => channel === name)
    return { kind, name, language: own === undefined ? (captionLanguages[name] ?? null) : own.language }
  }
}

/**
 * If the counted rate is within a thousandth of the stated rate, the stated one is used: the ends of segments are
 * rounded.
 */
const SAME_RATE = 0.001

/** Number of frames divided by their duration; null for audio. */
function measuredFrameRate({ recorded, timescale }: RecordedRendition, { video }: MediaInfo): Rational | null {
  const last = recorded.segments.at(-1)
  const first = recorded.segments[0]
  if (video === null || last === undefined || first === undefined) return null
  const frames = recorded.segments.reduce((sum, segment) => sum + segment.frames, 0)
  const ticks = last.start + last.duration - first.start
  if (frames === 0 || ticks <= 0) return null
  const rate = ratio(frames * timescale, ticks)
  return video.frameRate !== null && distance(rate, video.frameRate) <= SAME_RATE
    ? video.frameRate
    : approximate(rate, 1001)
}
