// In charge of: one job for people: its state, its source, its outputs.
import type { JobRead, ListedJob, PublicEvent } from '#contract/api/answers.ts'
import { shownState } from '#contract/api/shownStates.ts'
import type { PublicOutput, PublicStatus } from '#contract/api/status.ts'
import { channelText, estimateText, sourceText } from './describeEstimate.ts'
import { stripControlCharacters } from '../cliErrors.ts'
import { jobsAhead, partsOf } from './progressState.ts'
import { table } from './table.ts'
import { keyValueLines, wrap } from './terminal.ts'
import { formatAgo, formatBitrate, formatBytes, formatDuration, formatTime } from './formatUnits.ts'

const WIDTH = 80

/** @param width columns of the terminal; null if there is none */
export function describeJob(id: number, { status, config }: JobRead, width: number | null): string {
  const columns = width ?? WIDTH
  const { estimate, source } = status
  const { metadata } = config as { metadata?: Record<string, string> }
  const rows: [string, string][] = [
    ...(source === null || estimate !== null ? [] : [['Source', sourceText(source)] as [string, string]]),
    ...Object.entries(metadata ?? {}).map(([name, value]): [string, string] => [name, value]),
  ]
  return [
    wrap(stripControlCharacters(`Job ${id} ${stateLine(status)}: ${nameOf(status, config.inputs)}`), columns - 2, '  '),
    ...failureLines(status).map((line) => `  ${wrap(stripControlCharacters(line), columns - 4, '    ')}`),
    ...(rows.length === 0 ? [] : [keyValueLines(rows, columns, '  ')]),
    ...status.warnings.map(
      ({ message }) => `  ${wrap(stripControlCharacters(`Warning: ${message}`), columns - 4, '    ')}`,
    ),
    ...(estimate === null ? [] : [`\n${estimateText(estimate, columns)}`]),
    ...outputLines(id, status),
  ].join('\n')
}

/** The name of the source; of several sources the first, and how many follow. */
function nameOf({ input_name: name }: PublicStatus, inputs: readonly unknown[] = []): string {
  return inputs.length > 1 ? `${name} + ${inputs.length - 1}` : name
}

function stateLine(status: PublicStatus): string {
  const { started_at: from, finished_at: to } = status
  const state = shownState(status)
  if (state === 'failed' || state === 'cancelled') return state
  if (state === 'completed') {
    const seconds = from === null || to === null ? null : (Date.parse(to) - Date.parse(from)) / 1000
    return `${status.dry_run ? 'dry run ' : ''}completed${seconds === null ? '' : ` in ${formatDuration(seconds)}`}`
  }
  const progress = `${state}, ${status.phase}, transcode ${status.tcode_progress} %, transfer ${status.xfer_progress} %`
  return [progress, ...partsOf(status.chunks), ...waitingLines(status)].join(', ')
}

function failureLines({ error }: PublicStatus): string[] {
  if (error === null) return []
  const { code, message, field, advice, docs } = error
  const where = field === undefined || message.includes(field) ? '' : `${field}: `
  return [`${where}${message} (${code})`, advice, docs]
}

function waitingLines({ queue_position: ahead, failed_starts: starts, waiting_for: away }: PublicStatus): string[] {
  return [
    ...(ahead === null ? [] : [jobsAhead(ahead)]),
    ...(starts === null
      ? []
      : [
          `no transcoder could be started in ${starts.count} tries (next try ${formatTime(starts.next_try_at)}): ${starts.message}`,
        ]),
    ...(away === null ? [] : [`waiting: ${away.message} (${away.code}, next try ${formatTime(away.next_try_at)})`]),
  ]
}

/** A job may have a thousand. */
const MAX_STILLS = 4
/** Outputs that are shown with their size. The size of other outputs says little. */
const SIZED = new Set(['media', 'tar', 'poster', 'still', 'preview', 'waveform'])

/** Outputs that can be played or opened, each with its address on a separate line; the others as a count. */
function outputLines(id: number, { outputs }: PublicStatus): string[] {
  const stills = outputs.filter(({ role }) => role === 'still')
  const shown = outputs.filter((output) => isPlayable(output) && !stills.slice(MAX_STILLS).includes(output))
  const left = outputs.length - shown.length + outputs.reduce((sum, { segments }) => sum + (segments?.count ?? 0), 0)
  return [
    ...shown.flatMap((output) => [
      `  ${stripControlCharacters(outputText(output))}`,
      `    ${stripControlCharacters(output.url ?? output.location)}`,
    ]),
    ...(left === 0 ? [] : [`  ${left} more files: splicepoint download ${id}`]),
  ]
}

function isPlayable({ role, profile, segments, path }: PublicOutput): boolean {
  if (role === 'report' || role === 'storyboard') return false
  if (role === 'playlist' && (segments !== undefined || profile !== null)) return false
  return role === 'poster' || !/(^|\/)(thumbnails|captions)\//.test(path)
}

function outputText({ path, size, media, role }: PublicOutput): string {
  const parts = [
    ...(media?.video ? [`${media.video.width}×${media.video.height}`] : []),
    ...(media === null ? [] : [formatBitrate(media.average_bitrate_kbps)]),
    ...(media !== null && media.video === null ? media.audio.map(({ channels }) => channelText(channels)) : []),
    ...(media === null ? [] : [formatDuration(media.duration_seconds)]),
    ...(SIZED.has(role) ? [formatBytes(size)] : []),
  ]
  return [path, parts.join(', ')].filter((part) => part !== '').join('  ')
}

/** One line: when, and what happened. */
export function eventText({ at, message }: PublicEvent): string {
  return `${at.slice(0, 19).replace('T', ' ')} UTC  ${stripControlCharacters(message)}`
}

export function jobTable(jobs: readonly ListedJob[], width: number | null): string {
  const columns = [
    { title: 'ID', right: true },
    { title: 'NAME', flexible: true },
    { title: 'STATE' },
    { title: 'DURATION', right: true },
    { title: 'OUTPUT', right: true },
    { title: 'CREATED' },
  ] as const
  const rows = jobs.map(({ _auto_generated_id_: id, status, inputs }) => [
    String(id),
    nameOf(status, inputs),
    stateText(status),
    status.source?.duration_seconds == null ? '–' : formatDuration(status.source.duration_seconds),
    status.outputs.length === 0 ? '–' : formatBytes(totalBytes(status.outputs)),
    formatAgo(status.created_at),
  ])
  return table(columns, rows, width)
}

function stateText(status: PublicStatus): string {
  const state = shownState(status)
  const detail = {
    queued: null,
    running: status.phase === 'transcoding' ? `${status.tcode_progress} %` : status.phase,
    completed: status.dry_run ? 'dry run' : null,
    failed: status.error?.code ?? null,
    cancelled: null,
  }[state]
  return detail === null ? state : `${state}, ${detail}`
}

function totalBytes(outputs: readonly PublicOutput[]): number {
  return outputs.reduce((sum, { size, segments }) => sum + size + (segments?.bytes ?? 0), 0)
}
