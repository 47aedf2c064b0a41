// In charge of: the result of a dry run for people: the source, the planned outputs, time and cost.
// Not in charge of: the figures (the service).
import type { Estimate, PlannedFile, SourceReport } from '#contract/task/dryRunEstimate.ts'
import { stripControlCharacters } from '../cliErrors.ts'
import { table } from './table.ts'
import { keyValueLines, wrap } from './terminal.ts'
import { formatBitrate, formatBytes, formatDollars, formatDuration, formatRange } from './formatUnits.ts'

export function estimateText({ plan, predicted, probe }: Estimate, width: number): string {
  const { machine } = predicted
  const total: [string, string][] = [
    ['Source', sourceText(probe)],
    [
      'Time',
      `${formatRange(predicted.wall_seconds, formatDuration)} on ${machine.vcpus} vCPUs and ${machine.memory_gib} GiB, without the time in the queue`,
    ],
    ['CPU', `${formatRange(predicted.cpu_seconds, formatDuration)} of one vCPU`],
    ['Size', formatRange(predicted.output_bytes, formatBytes)],
    ['Cost', formatRange(predicted.cost_usd, formatDollars)],
    ...divisionFacts(plan),
    ...deadlineFacts(plan),
  ]
  return [keyValueLines(total, width, '  '), ...outputsText(plan.outputs, width)].join('\n\n')
}

/** Missing where one transcoder makes the whole job. */
function divisionFacts({ division }: Estimate['plan']): [string, string][] {
  if (division === undefined) return []
  const chosen = division.chosen_by === 'prediction' ? ', by the predicted time' : ''
  return [['Chunks', `${division.chunks}, each of at most ${formatDuration(division.chunk_seconds)}${chosen}`]]
}

/** Missing without deadline_seconds. */
function deadlineFacts({ deadline }: Estimate['plan']): [string, string][] {
  if (deadline === undefined) return []
  const { seconds, slots, slots_needed: needed } = deadline
  const many = needed === null ? 'no number of transcoders is enough' : `takes ${needed} at the same time`
  return [['Deadline', `${formatDuration(seconds)}: ${many}; there are ${slots}`]]
}

export function sourceText(source: SourceReport): string {
  const { formats, video, audio, duration_seconds, size_bytes, bitrate_kbps } = source
  // The codecs of a joined source are those of frames in memory; each input has its own.
  const isJoined = formats.includes('joined')
  const parts = [
    ...(isJoined ? ['joined'] : []),
    duration_seconds === null ? 'unknown duration' : formatDuration(duration_seconds),
    ...(size_bytes === null ? [] : [formatBytes(size_bytes)]),
    ...(bitrate_kbps === null ? [] : [formatBitrate(bitrate_kbps)]),
    video === null ? 'no video' : videoText(video, isJoined),
    audio.length === 0 ? 'no audio' : '',
    ...audio.map((stream) => audioText(stream, isJoined)),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

function videoText(video: NonNullable<SourceReport['video']>, isJoined: boolean): string {
  const turned = video.rotation % 180 !== 0
  const [width, height] = turned ? [video.height, video.width] : [video.width, video.height]
  const rate = video.frame_rate === null ? '' : ` ${rateText(video.frame_rate)} fps`
  const more = [
    ...(video.variable_frame_rate ? ['variable frame rate'] : []),
    ...(video.scan === 'progressive' ? [] : [video.scan]),
    ...(video.hdr ? ['HDR'] : []),
    ...(video.has_captions ? ['captions'] : []),
  ]
  return [`${isJoined ? '' : `${video.codec} `}${width}×${height}${rate}`, ...more].join(', ')
}

function audioText(
  { source_stream, codec, channels, language }: SourceReport['audio'][number],
  isJoined: boolean,
): string {
  return `audio ${source_stream}: ${isJoined ? '' : `${codec} `}${channelText(channels)}${language === null || language === 'und' ? '' : ` (${language})`}`
}

export function channelText(channels: number): string {
  return channels === 1 ? 'mono' : channels === 2 ? 'stereo' : channels === 6 ? '5.1' : `${channels} channels`
}

/** "30000/1001" → "29.97" */
export function rateText(fraction: string): string {
  const [over = 0, under = 1] = fraction.split('/').map(Number)
  return String(Number((over / under).toFixed(2)))
}

/** One row for each output, then notes about all outputs, then notes about single ones. */
function outputsText(files: readonly PlannedFile[], width: number): string[] {
  const columns = [
    { title: 'OUTPUT', flexible: true },
    { title: 'SIZE', right: true },
    { title: 'VIDEO', right: true },
    { title: 'AUDIO' },
    { title: 'FILE SIZE' },
  ] as const
  const rows = files.map(({ path, video, audio, output_bytes }) => [
    path,
    video === null ? '–' : `${video.width}×${video.height}`,
    video === null ? '–' : formatBitrate(video.bitrate_kbps),
    audio.map(({ codec, bitrate_kbps }) => `${codec} ${formatBitrate(bitrate_kbps)}`).join(', ') || 'none',
    output_bytes === null ? 'unknown' : `about ${formatBytes(output_bytes.likely)}`,
  ])
  const indented = (text: string, indent: string): string =>
    text
      .split('\n')
      .map((line) => indent + line)
      .join('\n')
  const sentences = (told: readonly string[]): string =>
    told.map((sentence) => `    ${wrap(stripControlCharacters(sentence), width - 4, '    ')}`).join('\n')
  const shared = files.length < 2 ? [] : (files[0]?.description ?? []).filter((each) => appliesToAll(each, files))
  const own = files.map(
    ({ path, description }) => [path, description.filter((each) => !shared.includes(each))] as const,
  )
  return [
    indented(table(columns, rows, width - 2), '  '),
    ...(shared.length === 0 ? [] : [`  All outputs\n${sentences(shared)}`]),
    ...own.flatMap(([path, told]) =>
      told.length === 0 ? [] : [`  ${stripControlCharacters(path)}\n${sentences(told)}`],
    ),
  ]
}

function appliesToAll(sentence: string, files: readonly PlannedFile[]): boolean {
  return files.every(({ description }) => description.includes(sentence))
}
