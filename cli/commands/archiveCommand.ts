// In charge of: `archive`: downloads all files of a job as one tar.
import { open, rename, rm } from 'node:fs/promises'
import type { JobRead } from '#contract/api/answers.ts'
import { NetworkError, ServiceError } from '../../client/clientErrors.ts'
import { fetchOrFail, describeError } from '../../client/serviceRequest.ts'
import type { CommandResult } from '../commandResult.ts'
import { UsageError } from '../cliErrors.ts'
import { transferProgress } from '../text/progressState.ts'
import type { ProgressLine } from '../text/progressLine.ts'
import { formatBytes } from '../text/formatUnits.ts'

/** @param to path of a file. Default: the archive's own name, in the current directory */
export async function archiveCommand(
  id: number,
  { status }: JobRead,
  to: string | undefined,
  line: ProgressLine,
  signal: AbortSignal,
): Promise<CommandResult> {
  if (status.archive_url === null) {
    throw new UsageError(
      status.job_completed
        ? `Job ${id} has no files in the service’s own store.`
        : `Job ${id} is not complete: splicepoint status ${id} --watch`,
    )
  }
  const url = new URL(status.archive_url)
  const file = to ?? fileNameInUrl(url) ?? `job-${id}.tar`
  const response = await fetchOrFail(url, { signal })
  if (response.status !== 200 || !response.body) {
    throw new ServiceError(response.status, await response.text().catch(() => ''))
  }
  const size = Number(response.headers.get('content-length'))
  const partial = `${file}.part`
  try {
    await writeArchive(response.body, partial, size, line)
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  } finally {
    line.end()
  }
  return { document: { file, size }, text: `${file}  ${formatBytes(size)}` }
}

/** The name of the file in the current directory: only a tar, and not a hidden file. */
export function fileNameInUrl({ pathname }: URL): string | null {
  return /\/([A-Za-z0-9_][A-Za-z0-9_.-]*\.tar)$/.exec(pathname)?.[1] ?? null
}

async function writeArchive(
  body: AsyncIterable<Uint8Array>,
  path: string,
  size: number,
  line: ProgressLine,
): Promise<void> {
  const show = transferProgress('Downloading')
  await using file = await open(path, 'w')
  const chunks = body[Symbol.asyncIterator]()
  let done = 0
  for (;;) {
    const broken = (error: unknown): never => {
      throw new NetworkError(
        `The download of the archive was interrupted after ${formatBytes(done)}: ${describeError(error)}.`,
        {
          cause: error,
        },
      )
    }
    const next = await chunks.next().catch(broken)
    if (next.done) break
    await file.writeFile(next.value)
    done += next.value.length
    line.show(show(done, size))
  }
  if (done !== size) throw new NetworkError(`The archive has ${done} bytes instead of ${size}.`)
}
