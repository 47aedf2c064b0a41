// In charge of: the output settings of a job, which the service returns without secrets.
import { hasVideo, jobInputs, type JobConfig } from '#contract/job/jobConfig.ts'
import { lastPathSegment } from '#contract/job/paths/inputAddress.ts'
import { audioRules } from '#contract/codecs.ts'
import type { AudioProfileFields, CaptionFields, InputFields } from '#contract/job/fields/request.ts'
import { rulesOf, type Provider } from '#contract/job/stores/registry.ts'
import { Copy } from '../parts/copy.tsx'
import { DefinitionList, type Definition } from '../parts/facts.tsx'
import { bitrate } from '../text/mediaDetails.ts'

/** "1280 × 720", "720p", "1280 px wide", "source size". */
function sizeOf({ width, height }: { width: number; height: number }): string {
  if (width > 0 && height > 0) return `${width} × ${height}`
  return height > 0 ? `${height}p` : width > 0 ? `${width} px wide` : 'source size'
}

const captionName = ({ language, label }: CaptionFields): string => (label ? `${label} (${language})` : language)
const providerName = (provider: Provider): string => rulesOf(provider).labels.settings

export function Settings({ config }: { config: JobConfig }) {
  const text = JSON.stringify(config, null, 2)
  const { videoProfiles: videos, audioProfiles: audios, cloud_credentials: stores } = config
  const codec = config.video_codec.toUpperCase()
  const facts: Definition[] = [
    ['Format', formatOf(config)],
    [
      'Video',
      !hasVideo(config)
        ? 'none'
        : videos.length === 0
          ? `${codec}, ladder chosen from the source`
          : videos.map((video) => `${sizeOf(video)} ${codec}, ${bitrate(video.video_bitrate)}`),
    ],
    ['Audio', audios.length === 0 ? 'none' : audios.map(describeAudio)],
    ...(config.inputs === undefined ? [] : [['Joined from', config.inputs.map(describePiece)] as Definition]),
    ...(config.captions === undefined ? [] : [['Captions', config.captions.map(captionName)] as Definition]),
    ['From', [...new Set(jobInputs(config).map(({ provider }) => providerName(provider)))].join(', ')],
    ['To', providerName(stores.output.cloud_provider)],
  ]
  return (
    <section class="card stack" aria-labelledby="settings">
      <h2 id="settings">Output settings</h2>
      <DefinitionList facts={facts} />
      <details>
        <summary>Request as JSON, without secrets</summary>
        <div class="quoted">
          <pre class="code" tabIndex={0} aria-label="Request as JSON">
            {text}
          </pre>
          <Copy text={text} what="the request" />
        </div>
      </details>
    </section>
  )
}

/** `film.mp4, from 00:01:30 to 00:02:00` */
function describePiece({ input, start_seconds: start, end_seconds: end }: InputFields): string {
  const part = [start === undefined ? '' : `from ${start}`, end === undefined ? '' : `to ${end}`].filter(Boolean)
  return [lastPathSegment(input), part.join(' ')].filter(Boolean).join(', ')
}

function describeAudio({ audio_codec: codec, audio_bitrate: kbps }: AudioProfileFields): string {
  if (codec === 'copy') return 'copied from the source'
  return audioRules(codec).bitrates === null ? codec.toUpperCase() : `${codec.toUpperCase()}, ${bitrate(Number(kbps))}`
}

/** output_container hls means HLS even if no other member selects it (decision "output_container with flags"). */
function formatOf(config: JobConfig): string {
  const { output_container: container, segmented_output_hls, segmented_output_dash } = config
  const made = [
    container === 'silverlight' ? 'Smooth Streaming' : null,
    container === 'hls' || segmented_output_hls ? 'HLS' : null,
    segmented_output_dash ? 'DASH' : null,
  ].filter((form) => form !== null)
  return made.length > 0 ? made.join(' and ') : hasVideo(config) ? container.toUpperCase() : 'Audio files'
}
