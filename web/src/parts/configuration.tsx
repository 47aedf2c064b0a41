// In charge of: a job's stored configuration, which the service returns without secrets.
import type { JobConfig } from '#contract/job.ts'
import { Copy } from './copy.tsx'
import { Facts, type Fact } from './facts.tsx'

/** "1280 × 720", "720 lines", "1280 wide", "the source’s size". */
function sizeOf({ width, height }: { width: number; height: number }): string {
  if (width > 0 && height > 0) return `${width} × ${height}`
  return height > 0 ? `${height} lines` : width > 0 ? `${width} wide` : 'the source’s size'
}

export function Configuration({ config }: { config: JobConfig }) {
  const text = JSON.stringify(config, null, 2)
  const { videoProfiles: videos, audioProfiles: audios, cloud_credentials: stores } = config
  const facts: Fact[] = [
    ['Container', config.output_container],
    [
      'Video',
      `${config.video_codec}: ${videos.map((video) => `${sizeOf(video)} at ${video.video_bitrate} kbps`).join(', ')}`,
    ],
    ['Sound', audios.map((audio) => `${audio.audio_codec} ${audio.audio_bitrate} kbps`).join(', ') || 'none'],
    ['Stores', `${stores.input.cloud_provider} → ${stores.output.cloud_provider}`],
  ]
  return (
    <section class="card" aria-labelledby="configuration">
      <h2 id="configuration">Configuration</h2>
      <Facts facts={facts} />
      <details>
        <summary>All of it, without secrets</summary>
        <div class="quoted">
          <pre class="code" tabIndex={0} aria-label="Configuration as JSON">
            {text}
          </pre>
          <Copy text={text} what="the configuration" />
        </div>
      </details>
    </section>
  )
}
