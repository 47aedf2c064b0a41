// In charge of: following a job to its end and downloading its outputs, with progress for people.
import { relative } from 'node:path'
import type { JobRead } from '#contract/api/answers.ts'
import type { Client } from '../../client/nodeClient.ts'
import { downloadAll, type DownloadedFile } from '../../client/download/downloadAll.ts'
import { EXIT_CODES } from '../cliErrors.ts'
import { jobProgress, transferProgress } from '../text/progressState.ts'
import type { ProgressLine } from '../text/progressLine.ts'
import { formatBytes } from '../text/formatUnits.ts'

export async function watchJob(client: Client, id: number, line: ProgressLine, signal: AbortSignal): Promise<JobRead> {
  try {
    return await client.follow(id, { signal, show: ({ status }) => line.show(jobProgress(status)) })
  } finally {
    line.end()
  }
}

/** 0 also if the job is still running. */
export function exitCodeOfJob({ status }: JobRead): number {
  return status.error || status.state === 'cancelled' ? EXIT_CODES.job : EXIT_CODES.ok
}

export async function downloadOutputs(
  job: JobRead,
  directory: string,
  line: ProgressLine,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<DownloadedFile[]> {
  const show = transferProgress('Downloading')
  let files: DownloadedFile[]
  try {
    files = await downloadAll(job, directory, {
      signal,
      progress: ({ bytes: done, totalBytes, files: whole, totalFiles }) =>
        line.show(show(done, totalBytes, `${whole} of ${totalFiles} files`)),
    })
  } finally {
    line.end()
  }
  const fresh = files.filter(({ already }) => !already)
  const sum = fresh.reduce((total, { size }) => total + size, 0)
  const place = relative('.', directory) || '.'
  const there = files.length - fresh.length
  say(
    `${count(fresh.length)} (${formatBytes(sum)}) downloaded to ${place}${there === 0 ? '' : `; ${count(there)} ${there === 1 ? 'was' : 'were'} already there`}`,
  )
  return files
}

const count = (files: number): string => `${files} file${files === 1 ? '' : 's'}`
