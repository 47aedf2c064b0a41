// In charge of: captions of caption files, or of joined pieces, in the frames that are encoded: their inputs and filters.
// Not in charge of: writing the inputs (pipeline/captionTracks.ts), the captions (plan/streams/embeddedCaptions.ts,
// pipeline/join/pieceCaptions.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { sameRatio, type Rational } from '../../formats/rational.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { buildSharedGraph } from './filterGraph.ts'
import { frameFormat, type FrameSource } from './filters.ts'

/** The frame rates for which a video with captions is needed. `videos`: all that are encoded. */
export function carrierRates(videos: readonly VideoPlan[]): Rational[] {
  const rates: Rational[] = []
  for (const { embedded, frameRate } of videos)
    if (embedded !== null && !rates.some((rate) => sameRatio(rate, frameRate))) rates.push(frameRate)
  return rates
}

/**
 * How a video with captions gets the rate of the output: by the filter fps, or where that moves captions to other frames
 * (ffmpeg 7), as it is read. (As ffmpeg 5 reads it, it ends at a time that tpad misunderstands.)
 */
export type CarrierClock = 'filter' | 'input'

export function carrierInputs(carriers: readonly { file: string; rate: Rational }[], clock: CarrierClock): string[] {
  return carriers.flatMap(({ file, rate }) => [
    ...(clock === 'input' ? ['-r', `${rate.num}/${rate.den}`] : []),
    // The demuxer probes with the decoder of both.
    ...['-protocol_whitelist', 'file', '-format_whitelist', 'mpegvideo', '-codec_whitelist', 'mpeg1video,mpeg2video'],
    ...['-f', 'mpegvideo', '-i', file],
  ])
}

interface Captioned {
  video: VideoPlan
  position: number
}

/**
 * blend gives the pixels of its second input in frames of its first one, which have the captions: ffmpeg has no filter
 * that copies captions alone. `[n0]` is the video of output 0 without captions, `[v0]` that with them. `first`: the first of
 * the inputs.
 */
export function carrierGraph(
  plan: Pick<FrameSource, 'picture'>,
  captioned: readonly Captioned[],
  first: number,
  clock: CarrierClock,
): string[] {
  return [
    ...carrierRates(captioned.map(({ video }) => video)).flatMap((rate, index) =>
      buildSharedGraph(
        `[${first + index}:v:0]`,
        captioned
          .filter(({ video }) => sameRatio(video.frameRate, rate))
          .map(({ video, position }) => ({ filters: carrierFilters(plan, video, clock), label: `k${position}` })),
        'split',
      ),
    ),
    ...captioned.map(
      ({ video, position }) =>
        `[k${position}][n${position}]${['blend=all_mode=normal:all_opacity=0:shortest=1', ...frameFormat(plan, video)].join(',')}[v${position}]`,
    ),
  ]
}

function carrierFilters(plan: Pick<FrameSource, 'picture'>, video: VideoPlan, clock: CarrierClock): string[] {
  const { num, den } = video.frameRate
  return [
    // One frame for each of the output; fps states the rate for what follows.
    ...(clock === 'input' ? [] : [`settb=${den}/${num}`, 'setpts=N', `fps=${num}/${den}`]),
    // The last frame has no captions, and is repeated as long as the video lasts.
    'tpad=stop=-1:stop_mode=clone',
    `scale=w=${video.width}:h=${video.height}:flags=neighbor`,
    ...frameFormat(plan, video),
  ]
}
