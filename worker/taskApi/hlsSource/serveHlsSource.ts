// In charge of: serving an HLS source through the task API: its description, its resources and its keys, by number. Its
// addresses never leave the Worker.
// Not in charge of: playlists (hlsPlaylist.ts, hlsPresentation.ts), which addresses may be reached
// (storage/guardedFetch.ts), assembling the segments (transcoder/source/hls/).
import type { Context } from 'hono'
import { SOURCE_ERROR_HEADER } from '#contract/task/protocol.ts'
import type { HlsByteRange } from './hlsPlaylist.ts'
import { openResource, openHlsPresentation, resolve, type HlsPresentation } from './hlsPresentation.ts'
import { PlaylistError } from './playlistError.ts'
import { TtlCache } from '../../util/ttlCache.ts'
import { notFound } from '../../http/requestError.ts'
import { httpSourceOf } from '../../storage/jobStores.ts'
import type { HttpCredentials } from '../../storage/http/httpSource.ts'
import { StoreError, type SourceBody } from '../../storage/objectStore.ts'
import { guardedTransport, type FetchFunction } from '../../storage/guardedFetch.ts'
import { jobOfAttempt } from '../jobOfAttempt.ts'
import type { TaskEnv } from '../taskContext.ts'
import { sourceErrorResponse } from '../serveSource.ts'

const KEY_BYTES = 16

interface OpenedPresentation {
  presentation: HlsPresentation
  source: URL
  access: HttpCredentials
  transport: FetchFunction
}

// Read again after a minute or a restart. The digest proves that the playlist is unchanged; no address is stored.
const presentations = new TtlCache<OpenedPresentation>()

async function openForAttempt(c: Context<TaskEnv>): Promise<OpenedPresentation> {
  const job = await jobOfAttempt(c.env, c.var)
  const input = await httpSourceOf(c.env, job)
  if (input === null) throw notFound()
  const transport = guardedTransport(c.env)
  const { access } = input
  const source = new URL(input.url)
  return { source, access, transport, presentation: await openHlsPresentation(source, access, transport) }
}

/** Always read again: an EVENT playlist grows. */
export async function describeHls(c: Context<TaskEnv>): Promise<Response> {
  return withErrorResponse(async () => {
    const opened = await openForAttempt(c)
    const { description } = opened.presentation
    if (description.ended) presentations.set(cacheKey(c, description.playlist_digest), opened)
    return c.json(description)
  })
}

export async function serveResource(c: Context<TaskEnv>): Promise<Response> {
  return withErrorResponse(async () => {
    const opened = await openUnchanged(c)
    const track = opened.presentation.tracks[Number(c.req.param('track'))]
    const piece = (c.req.param('kind') === 'maps' ? track?.maps : track?.segments)?.[Number(c.req.param('n'))]
    if (!track || !piece) throw notFound()
    const { body, length } = await readResource(opened, resolve(piece.uri, track.url), piece.range)
    return new Response(body, {
      headers: {
        'content-type': 'application/octet-stream',
        'cache-control': 'no-store',
        ...(length === null ? {} : { 'content-length': String(length) }),
      },
    })
  })
}

export async function serveDecryptionKey(c: Context<TaskEnv>): Promise<Response> {
  return withErrorResponse(async () => {
    const opened = await openUnchanged(c)
    const url = opened.presentation.keys[Number(c.req.param('n'))]
    if (url === undefined) throw notFound()
    const { body } = await readResource(opened, url, null)
    const key = await readPrefix(body, KEY_BYTES + 1)
    if (key.length !== KEY_BYTES) {
      throw new PlaylistError('source_damaged', 'A decryption key of the source is not 16 bytes long.')
    }
    return new Response(key, { headers: { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' } })
  })
}

function cacheKey(c: Context<TaskEnv>, playlistDigest: string): string {
  return `${c.var.task}/${c.var.attempt}/${playlistDigest}`
}

async function openUnchanged(c: Context<TaskEnv>): Promise<OpenedPresentation> {
  const playlistDigest = c.req.param('digest') ?? ''
  const opened = await presentations.get(cacheKey(c, playlistDigest), () => openForAttempt(c))
  if (opened.presentation.description.playlist_digest !== playlistDigest) {
    throw new PlaylistError('source_changed', 'The playlists of the source changed while it was read.')
  }
  return opened
}

async function readResource(
  { source, access, transport }: OpenedPresentation,
  address: URL | string,
  range: HlsByteRange | null,
): Promise<SourceBody> {
  const url = address instanceof URL ? address : URL.parse(address)
  if (url === null) {
    throw new StoreError('address_refused', 'http', 'read', 'The playlist contains an invalid address.')
  }
  const read = await openResource(url, source, access, transport).read(range)
  // A server that ignores Range would send the whole file up to the range, for each of thousands of segments.
  if (range !== null && !(read.isPartial && read.length === range.length)) {
    await read.body.cancel()
    throw new StoreError(
      'range_not_satisfiable',
      'http',
      'read',
      `${url.host} does not serve the byte ranges of the playlist.`,
    )
  }
  return read
}

async function readPrefix(body: ReadableStream<Uint8Array>, count: number): Promise<Uint8Array> {
  const reader = body.getReader()
  const found = new Uint8Array(count)
  let size = 0
  while (size < count) {
    const { done, value } = await reader.read()
    if (done) break
    const part = value.subarray(0, count - size)
    found.set(part, size)
    size += part.length
  }
  await reader.cancel()
  return found.subarray(0, size)
}

const statusOfPlaylistError = { source_changed: 412, source_too_large: 413 } as const

async function withErrorResponse(serve: () => Promise<Response>): Promise<Response> {
  try {
    return await serve()
  } catch (error) {
    if (!(error instanceof PlaylistError)) return sourceErrorResponse(error)
    const status = statusOfPlaylistError[error.code as keyof typeof statusOfPlaylistError] ?? 400
    const body = { error: { code: error.code, message: error.message } }
    return Response.json(body, { status, headers: { [SOURCE_ERROR_HEADER]: error.code } })
  }
}
