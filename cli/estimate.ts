// In charge of: what a dry run found, for people: the source, what would be made of it, how long that takes and what it costs.
// Not in charge of: the figures (the service).
import type { Estimate, FileReport, SourceReport } from '#contract/estimate.ts'
import { plain } from './failure.ts'
import { facts, wrap } from './text/terminal.ts'
import { bitrate, bytes, dollars, duration, range } from './text/units.ts'

export function estimateText({ plan, predicted, probe }: Estimate, width: number): string {
  const { machine } = predicted
  const total: [string, string][] = [
    ['Source', sourceText(probe)],
    [
      'Time',
      `${range(predicted.wall_seconds, duration)} on ${machine.vcpus} vCPUs and ${machine.memory_gib} GiB, without waiting in the queue`,
    ],
    ['CPU', `${range(predicted.cpu_seconds, duration)} of one vCPU`],
    ['Size', range(predicted.output_bytes, bytes)],
    ['Cost', range(predicted.cost_usd, dollars)],
  ]
  return [facts(total, width, '  '), ...plan.outputs.map((file) => fileText(file, width))].join('\n\n')
}

export function sourceText({ video, audio, duration_seconds, size_bytes, bitrate_kbps }: SourceReport): string {
  const parts = [
    duration_seconds === null ? 'unknown duration' : duration(duration_seconds),
    ...(size_bytes === null ? [] : [bytes(size_bytes)]),
    ...(bitrate_kbps === null ? [] : [bitrate(bitrate_kbps)]),
    video === null ? 'no video' : videoText(video),
    audio.length === 0 ? 'no audio' : '',
    ...audio.map(audioText),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function videoText(video: NonNullable<SourceReport['video']>): string {
  const turned = video.rotation % 180 !== 0
  const [width, height] = turned ? [video.height, video.width] : [video.width, video.height]
  const rate = video.frame_rate === null ? '' : ` ${rateText(video.frame_rate)} fps`
  const more = [
    ...(video.variable_frame_rate ? ['variable frame rate'] : []),
    ...(video.scan === 'progressive' ? [] : [video.scan]),
    ...(video.hdr ? ['HDR'] : []),
    ...(video.has_captions ? ['captions'] : []),
  ]
  return [`${video.codec} ${width}×${height}${rate}`, ...more].join(', ')
}

function audioText({ source_stream, codec, channels, language }: SourceReport['audio'][number]): string {
  return `audio ${source_stream}: ${codec} ${channelText(channels)}${language === null || language === 'und' ? '' : ` (${language})`}`
}

export function channelText(channels: number): string {
  return channels === 1 ? 'mono' : channels === 2 ? 'stereo' : channels === 6 ? '5.1' : `${channels} channels`
}

/** "30000/1001" → "29.97" */
export function rateText(fraction: string): string {
  const [over = 0, under = 1] = fraction.split('/').map(Number)
  return String(Number((over / under).toFixed(2)))
}

function fileText({ path, video, audio, description, output_bytes }: FileReport, width: number): string {
  const size = output_bytes === null ? '' : `, ${range(output_bytes, bytes)}`
  const head = [
    ...(video === null ? [] : [`${video.width}×${video.height} ${bitrate(video.bitrate_kbps)}`]),
    ...(audio.length === 0
      ? []
      : [audio.map(({ codec, bitrate_kbps }) => `${codec} ${bitrate(bitrate_kbps)}`).join(', ')]),
  ].join(', ')
  const told = description.map((sentence) => `    ${wrap(plain(sentence), width - 4, '    ')}`)
  return [`  ${wrap(`${plain(path)}  ${head}${size}`, width - 4, '    ')}`, ...told].join('\n')
}
