// In charge of: the source as it was analysed.
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { runningTime } from '../text/mediaTerms.ts'
import { Facts, type Fact } from '../parts/facts.tsx'
import { bytes } from '../text/format.ts'
import { bitrate, containerName, sourceAudio, sourceVideo } from './mediaDetails.ts'

export function Source({ source }: { source: SourceReport }) {
  const { video, audio, duration_seconds: seconds, size_bytes: size, bitrate_kbps: rate } = source
  const figures = [
    ...(seconds === null ? [] : [runningTime(seconds)]),
    ...(size === null ? [] : [bytes(size)]),
    ...(rate === null ? [] : [bitrate(rate)]),
  ]
  const facts: Fact[] = [
    ['File', [containerName(source.formats), figures.join(' · ')].filter((line) => line !== '')],
    ['Video', video === null ? 'none' : sourceVideo(video)],
    ...(audio.length === 0
      ? [['Audio', 'none'] satisfies Fact]
      : audio.map((stream): Fact => [
          audio.length === 1 ? 'Audio' : `Audio ${stream.source_stream}`,
          sourceAudio(stream),
        ])),
    ...(video?.has_captions === true ? [['Captions', video.captions.join(', ') || 'embedded'] satisfies Fact] : []),
  ]
  return (
    <section class="card" aria-labelledby="source">
      <h2 id="source">Source</h2>
      <Facts facts={facts} />
    </section>
  )
}
