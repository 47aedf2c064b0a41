// In charge of: captions and text subtitles of a joined source: which tracks the outputs have, and where each piece has
// them.
// Not in charge of: reading them (pipeline/join), tracks of one source (streams/textSubtitles.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { videoCodecOfSource } from '../codecs.ts'
import type { MediaInfo, OtherStream, VideoStream } from '../model/mediaInfo.ts'
import type { PlanContext } from '../planContext.ts'
import { MAX_TRACKS, textSubtitleStreams } from '../streams/textSubtitles.ts'

/** Tracks of the same language and purpose become one, in the order of the pieces. */
export function joinSubtitles(
  spec: JobSpec,
  pieces: readonly MediaInfo[],
): { streams: OtherStream[]; pieces: (number | null)[][] } {
  const tracks: { key: string; model: OtherStream; ofPiece: Map<number, number> }[] = []
  for (const [piece, media] of pieces.entries()) {
    const seen = new Map<string, number>()
    for (const stream of textSubtitleStreams(spec, media)) {
      const purpose = [stream.language ?? 'und', ...(stream.dispositions ?? [])].join(' ')
      const count = seen.get(purpose) ?? 0
      seen.set(purpose, count + 1)
      const key = `${purpose} ${count}`
      const track = tracks.find((each) => each.key === key)
      // Each is a pipe, as in a single source.
      if (track === undefined && tracks.length === MAX_TRACKS) continue
      if (track === undefined) tracks.push({ key, model: stream, ofPiece: new Map([[piece, stream.index]]) })
      else track.ofPiece.set(piece, stream.index)
    }
  }
  return {
    streams: tracks.map(({ model }, index) => ({ ...model, index, id: null, codec: 'webvtt', startSeconds: 0 })),
    pieces: pieces.map((_media, piece) => tracks.map(({ ofPiece }) => ofPiece.get(piece) ?? null)),
  }
}

/** Captions in the video of any piece can become WebVTT tracks. `pieces`: whether each can be read. */
export function joinCaptions(
  { spec }: PlanContext,
  pieces: readonly MediaInfo[],
): { video: Partial<VideoStream>; pieces: boolean[] } {
  const videos = pieces.map(({ video }) => video)
  const withCaptions = videos.filter(
    (video): video is VideoStream => video?.closedCaptions === true && videoCodecOfSource(video.codec) !== null,
  )
  const isWanted = spec.closedCaptions === true && spec.packaging !== null
  return {
    video:
      withCaptions[0] === undefined
        ? {}
        : {
            codec: withCaptions[0].codec,
            closedCaptions: true,
            captionChannels: [...new Set(withCaptions.flatMap(({ captionChannels }) => captionChannels))],
            captionLanguages: Object.assign(
              {},
              ...withCaptions.map(({ captionLanguages }) => captionLanguages),
            ) as Record<string, string>,
          },
    pieces: videos.map((video) => isWanted && video !== null && withCaptions.includes(video)),
  }
}
