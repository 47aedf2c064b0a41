// In charge of: the objects of a finished job as one tar: what it is made of, its length and tag before the first byte, and
// any span of it as a stream. Nothing is stored, and of the content no more than one window is asked for at a time.
// Not in charge of: who may read it (archiveRoutes.ts), the bytes around each object (contract/formats/tarHeader.ts).
import { TAR_END_BYTES, tarHeader, tarPadding } from '#contract/formats/tarHeader.ts'
import { attemptDirectory } from '#contract/task/protocol.ts'
import type { Span } from '../util/byteRange.ts'
import { ownPrefix } from '../storage/keyBelow.ts'
import { vendorSource } from '../storage/r2/r2Store.ts'

/** As in serveObject.ts: a local R2 GET has no backpressure. */
const WINDOW_BYTES = 32 * 1024 * 1024

export interface Archived {
  account: string
  jobId: string
  /** The attempt that made the outputs: what others left is about to be removed. */
  attempt: number
  /** Everything is below a directory of this name. */
  directory: string
  /** Milliseconds since 1970. */
  finishedAt: number
}

/** A piece of the tar: bytes of its form, or an object. */
type Piece = { length: number } & ({ bytes: Uint8Array } | { key: string; etag: string })

/** In the order of their keys, which is that of R2: the same tar each time. */
async function* piecesOf(env: Env, archived: Archived): AsyncGenerator<Piece> {
  const { account, jobId, directory, finishedAt } = archived
  const prefix = ownPrefix(account, jobId)
  const modified = Math.floor(finishedAt / 1000)
  let cursor: string | undefined
  do {
    const page: R2Objects = await env.BUCKET.list({ prefix, limit: 1000, ...(cursor === undefined ? {} : { cursor }) })
    for (const { key, size, httpEtag } of page.objects) {
      const path = key.slice(prefix.length)
      if (isLeftOver(path, archived)) continue
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

function isLeftOver(path: string, { jobId, attempt }: Archived): boolean {
  const own = attemptDirectory(jobId, attempt)
  return path.split('/').some((element) => element.startsWith(`${jobId}-`) && element !== own)
}

export interface Measured {
  size: number
  /** Strong: the same bytes have the same one. */
  etag: string
}

/** Null where there is no object. */
export async function measure(env: Env, archived: Archived): Promise<Measured | null> {
  const digest = new crypto.DigestStream('SHA-256')
  const writer = digest.getWriter()
  const encoder = new TextEncoder()
  let size = 0
  let objects = 0
  for await (const piece of piecesOf(env, archived)) {
    size += piece.length
    if ('bytes' in piece) await writer.write(piece.bytes)
    else {
      await writer.write(encoder.encode(piece.etag))
      objects++
    }
  }
  await writer.close()
  const hex = [...new Uint8Array(await digest.digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return objects === 0 ? null : { size, etag: `"${hex.slice(0, 32)}"` }
}

/** An object that is gone or was replaced meanwhile breaks the body off, which its length gives away. */
export function streamArchive(env: Env, archived: Archived, span: Span): ReadableStream {
  const fixed = new FixedLengthStream(span.length)
  const end = span.offset + span.length
  const pump = async (): Promise<void> => {
    let at = 0
    for await (const piece of piecesOf(env, archived)) {
      const from = Math.max(span.offset - at, 0)
      const to = Math.min(end - at, piece.length)
      at += piece.length
      if (from < to) await copy(env, piece, from, to, fixed.writable)
      if (at >= end) break
    }
    await fixed.writable.close()
  }
  void pump().catch((error: unknown) => fixed.writable.abort(error).catch(() => undefined))
  return fixed.readable
}

async function copy(env: Env, piece: Piece, from: number, to: number, into: WritableStream): Promise<void> {
  if ('bytes' in piece) {
    const writer = into.getWriter()
    await writer.write(piece.bytes.subarray(from, to))
    writer.releaseLock()
    return
  }
  const source = vendorSource(env.BUCKET, piece.key)
  for (let offset = from; offset < to; offset += WINDOW_BYTES) {
    const window = await source.read({ offset, length: Math.min(WINDOW_BYTES, to - offset) }, piece.etag)
    await window.body.pipeTo(into, { preventClose: true })
  }
}
