// In charge of: the job of the demo: up to three renditions of a source, and its audio.
import { minimumBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import type { JobRequest } from '../../client/jobRequest.ts'
import type { DemoSource } from './demoSource.ts'

export interface Rendition {
  output: string
  height: number
}

export interface DemoJob {
  body: JobRequest
  renditions: Rendition[]
}

const HEIGHTS = [720, 480, 360, 240]
/** Factor on the minimum bitrate. */
const BITRATE_HEADROOM = 2.5

export function createDemoJob(source: DemoSource, input: string): DemoJob {
  const fitting = HEIGHTS.filter((height) => height <= source.height).slice(0, 3)
  const heights = fitting.length > 0 ? fitting : [source.height - (source.height % 2)]
  const renditions = heights.map((height) => ({ output: `${height}p.mp4`, height }))
  return {
    renditions,
    body: {
      input,
      output_container: 'mp4',
      video_codec: 'h.264',
      videoProfiles: renditions.map(({ output, height }) => ({
        output,
        width: 0, // proportional
        height,
        video_bitrate_mode: 'vbr',
        video_bitrate: bitrate(source, height),
      })),
      audioProfiles: source.hasAudio
        ? [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }]
        : [],
      cloud_credentials: {
        input: { cloud_provider: 'file-upload' },
        output: { cloud_provider: 'vendor-store' },
      },
    },
  }
}

function bitrate(source: DemoSource, height: number): number {
  const width = Math.round((source.width / source.height) * height)
  return Math.max(300, Math.ceil((minimumBitrateKbps('h.264', width, height, 'vbr') * BITRATE_HEADROOM) / 50) * 50)
}
