// In charge of: serving a local file as the loopback server's source, with the responses that the task API would give.
// Not in charge of: creating the file (hls/hlsDownload.ts, prepareSource.ts).
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { FetchRange } from './sourceReader.ts'

export function localFileInput(path: string, size: number): FetchRange {
  return async (range, _etag, signal) => {
    const first = range?.first ?? 0
    const last = Math.min(range?.last ?? size - 1, size - 1)
    if (first > last) return new Response(null, { status: 416, headers: { 'content-range': `bytes */${size}` } })
    const file = createReadStream(path, { start: first, end: last, highWaterMark: 256 * 1024, signal })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- two declarations of one class
    const body = Readable.toWeb(file) as NodeReadableStream<Uint8Array> as ReadableStream<Uint8Array<ArrayBuffer>>
    return new Response(body, {
      status: range === null ? 200 : 206,
      headers: {
        'accept-ranges': 'bytes',
        'content-length': String(last - first + 1),
        ...(range === null ? {} : { 'content-range': `bytes ${first}-${last}/${size}` }),
      },
    })
  }
}
