// In charge of: watching a job to its end and fetching its outputs, with what people see of it.
import { join, relative } from 'node:path'
import { MAX_QUEUE_POSITION } from '#contract/limits.ts'
import type { JobRead } from '#contract/answers.ts'
import type { Client } from '../client/client.ts'
import { download } from '../client/download.ts'
import { follow } from '../client/follow.ts'
import { EXIT, plain } from './failure.ts'
import { progressLine } from './progress.ts'

const POLL_MS = 1000
/** A service that restarts or is deployed is away for some seconds. */
const SILENCE_MS = 30_000

export interface Shown {
  /** Progress and notes. */
  progress: NodeJS.WriteStream
  signal: AbortSignal
  /** No progress: the answer is for a program. */
  quiet: boolean
}

export async function watch(client: Client, id: number, { progress, signal, quiet }: Shown): Promise<JobRead> {
  const line = progressLine(progress)
  try {
    return await follow(client, id, {
      pollMs: POLL_MS,
      silenceMs: SILENCE_MS,
      signal,
      show: ({ status }) => {
        if (!quiet) line.show(status)
      },
    })
  } finally {
    line.end()
  }
}

/** 0 also for a job that goes on. */
export function exitCodeOfJob({ status }: JobRead): number {
  return status.error || status.state === 'cancelled' ? EXIT.job : EXIT.ok
}

export interface Fetched {
  path: string
  file: string
  size: number
  sha256: string
  already: boolean
}

export interface Fetch {
  files: Fetched[]
  /** Segments that playlists stand for; the service lists no hashes of them, so they are not fetched. */
  segments_left: number
}

export async function fetchOutputs(
  { status }: JobRead,
  directory: string,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<Fetch> {
  const files: Fetched[] = []
  for (const output of status.outputs) {
    const { path, size, sha256 } = output
    const { file, already } = await download(output, directory, signal)
    say(`${relative('.', join(file))}  ${size} bytes${already ? ', was there' : ''}`)
    files.push({ path, file, size, sha256, already })
  }
  const segments_left = status.outputs.reduce((sum, { segments }) => sum + (segments?.count ?? 0), 0)
  if (segments_left > 0) {
    say(
      `${segments_left} segments stay where they are: play them from there, or submit with --set create_tar_file=true to have all in one file.`,
    )
  }
  return { files, segments_left }
}

export function describe(id: number, { status }: JobRead): string {
  const end =
    status.error === null
      ? status.job_completed
        ? status.state === 'cancelled'
          ? 'cancelled'
          : 'done'
        : `${status.phase}, transcode ${status.tcode_progress} %, transfer ${status.xfer_progress} %`
      : `failed: ${status.error.field === undefined ? '' : `${status.error.field}: `}${status.error.message} (${status.error.code})`
  const before = status.queue_position
  const failed = status.failed_starts
  const starts =
    failed === null ? '' : `, no transcoder could be started (${failed.count} tries, the next at ${failed.next_try_at})`
  const away = status.waiting_for
  const waiting = away === null ? '' : `, waits: ${away.message} (${away.code}; the next try at ${away.next_try_at})`
  const queue = before === null ? '' : `, ${before}${before >= MAX_QUEUE_POSITION ? ' or more' : ''} before it`
  return plain(
    [
      `Job ${id} ${end}${queue}${starts}${waiting}`,
      ...status.warnings.map(({ message }) => `  note: ${message}`),
      ...status.outputs.map(({ path, size, url }) => `  ${path}  ${size} bytes  ${url}`),
      ...(status.estimate ? [`  estimate: ${JSON.stringify(status.estimate)}`] : []),
    ].join('\n'),
  )
}
