// In charge of: the analysis result of the source.
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { runningTime } from '../text/mediaTerms.ts'
import { DefinitionList, type Definition } from '../parts/facts.tsx'
import { formatBytes } from '../text/format.ts'
import { bitrate, containerName, sourceAudio, sourceVideo } from '../text/mediaDetails.ts'

export function Source({ source }: { source: SourceReport }) {
  const { video, audio, duration_seconds: seconds, size_bytes: size, bitrate_kbps: rate } = source
  const isJoined = source.formats.includes('joined')
  const figures = [
    ...(seconds === null ? [] : [runningTime(seconds)]),
    ...(size === null ? [] : [formatBytes(size)]),
    ...(rate === null ? [] : [bitrate(rate)]),
  ]
  const facts: Definition[] = [
    ['File', [containerName(source.formats), figures.join(' · ')].filter((line) => line !== '')],
    ['Video', video === null ? 'none' : sourceVideo(video, isJoined)],
    ...(audio.length === 0
      ? [['Audio', 'none'] satisfies Definition]
      : audio.map((stream): Definition => [
          audio.length === 1 ? 'Audio' : `Audio ${stream.source_stream}`,
          sourceAudio(stream, isJoined),
        ])),
    ...(video?.has_captions === true
      ? [['Captions', video.captions.join(', ') || 'embedded'] satisfies Definition]
      : []),
  ]
  return (
    <section class="card stack" aria-labelledby="source">
      <h2 id="source">Source</h2>
      <DefinitionList facts={facts} />
    </section>
  )
}
