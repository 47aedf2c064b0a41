// In charge of: the objects of a finished job as one tar file: its content, its length and ETag before the first byte,
// and any byte range of it as a stream. Nothing is stored, and only one window of an object is read at a time.
// Not in charge of: access control (archiveRoutes.ts), the format (contract/formats/tarHeader.ts).
import { TAR_END_BYTES, tarHeader, tarPadding } from '#contract/formats/tarHeader.ts'
import type { ByteSpan } from '../util/byteRange.ts'
import { ownPrefix } from '../storage/keyBelow.ts'
import { r2Source } from '../storage/r2/r2Store.ts'
import { toHex } from '../util/encoding.ts'

/** As in serveObject.ts: a local R2 GET has no backpressure. */
const WINDOW_BYTES = 32 * 1024 * 1024

export interface ArchivedJob {
  account: string
  jobId: string
  /** Of the attempt that made the outputs. Objects of other attempts are about to be removed. */
  attemptDirectory: string
  /** All entries are in a directory of this name. */
  directory: string
  /** Milliseconds since 1970. */
  finishedAt: number
}

/** A section of the tar file: header or padding bytes, or an object. */
type ArchiveSection = { length: number } & ({ bytes: Uint8Array } | { key: string; etag: string })

/** In the order of keys in R2, so that the tar file is the same each time. */
async function* archiveSections(env: Env, archived: ArchivedJob): AsyncGenerator<ArchiveSection> {
  const { account, jobId, directory, finishedAt } = archived
  const prefix = ownPrefix(account, jobId)
  const modified = Math.floor(finishedAt / 1000)
  let cursor: string | undefined
  do {
    const page: R2Objects = await env.BUCKET.list({ prefix, limit: 1000, ...(cursor === undefined ? {} : { cursor }) })
    for (const { key, size, httpEtag } of page.objects) {
      const path = key.slice(prefix.length)
      if (isFromOtherAttempt(path, archived)) continue
      const head = tarHeader({ path: `${directory}/${path}`, size, modified })
      yield { length: head.length, bytes: head }
      yield { length: size, key, etag: httpEtag }
      const rest = tarPadding(size)
      if (rest > 0) yield { length: rest, bytes: new Uint8Array(rest) }
    }
    cursor = page.truncated ? page.cursor : undefined
  } while (cursor !== undefined)
  yield { length: TAR_END_BYTES, bytes: new Uint8Array(TAR_END_BYTES) }
}

function isFromOtherAttempt(path: string, { jobId, attemptDirectory }: ArchivedJob): boolean {
  return path.split('/').some((element) => element.startsWith(`${jobId}-`) && element !== attemptDirectory)
}

export interface ArchiveSize {
  size: number
  /** Strong: equal for equal bytes. */
  etag: string
}

/** Null if there are no objects. */
export async function measureArchive(env: Env, archived: ArchivedJob): Promise<ArchiveSize | null> {
  const digest = new crypto.DigestStream('SHA-256')
  const writer = digest.getWriter()
  const encoder = new TextEncoder()
  let size = 0
  let objects = 0
  for await (const section of archiveSections(env, archived)) {
    size += section.length
    if ('bytes' in section) await writer.write(section.bytes)
    else {
      await writer.write(encoder.encode(section.etag))
      objects++
    }
  }
  await writer.close()
  return objects === 0 ? null : { size, etag: `"${toHex(await digest.digest).slice(0, 32)}"` }
}

/** If an object is deleted or replaced meanwhile, the body is cut off, which its length reveals. */
export function streamArchive(env: Env, archived: ArchivedJob, range: ByteSpan): ReadableStream {
  const fixed = new FixedLengthStream(range.length)
  const end = range.offset + range.length
  const pump = async (): Promise<void> => {
    let at = 0
    for await (const section of archiveSections(env, archived)) {
      const from = Math.max(range.offset - at, 0)
      const to = Math.min(end - at, section.length)
      at += section.length
      if (from < to) await copySection(env, section, from, to, fixed.writable)
      if (at >= end) break
    }
    await fixed.writable.close()
  }
  void pump().catch((error: unknown) => fixed.writable.abort(error).catch(() => undefined))
  return fixed.readable
}

async function copySection(
  env: Env,
  section: ArchiveSection,
  from: number,
  to: number,
  into: WritableStream,
): Promise<void> {
  if ('bytes' in section) {
    const writer = into.getWriter()
    await writer.write(section.bytes.subarray(from, to))
    writer.releaseLock()
    return
  }
  const source = r2Source(env.BUCKET, section.key)
  for (let offset = from; offset < to; offset += WINDOW_BYTES) {
    const window = await source.read({ offset, length: Math.min(WINDOW_BYTES, to - offset) }, section.etag)
    await window.body.pipeTo(into, { preventClose: true })
  }
}
