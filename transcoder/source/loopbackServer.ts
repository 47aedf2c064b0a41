// In charge of: the loopback address from which ffmpeg and ffprobe read the source, and whether all requested bytes
// were delivered.
// Not in charge of: getting the bytes (sourceReader.ts).
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { LIVE_NAME } from '../ffmpeg/inputAllowlist.ts'
import type { ExpectedBytes } from './expectedBytes.ts'
import type { SkippedBytes } from './skippedBytes.ts'
import type { ProgramMap } from '../formats/mpegts/programTables.ts'
import { StableMap, type EndedStream } from '../formats/mpegts/stableMap.ts'
import type { ByteRange } from './rangeResponse.ts'
import { SourceReader, type FetchRange, type SourceReaderOptions } from './sourceReader.ts'

export interface SourceIntegrity {
  /**
   * False if a requested byte could not be delivered. ffmpeg's exit code does not show that: it is 0 for a source that
   * broke off.
   */
  complete: boolean
  error?: Error
  size: number | null
}

export interface HeldAddress {
  url: string
  release: () => void
}

export class LoopbackServer {
  readonly #server: Server
  #input: FetchRange
  #reader: SourceReader
  #map = new StableMap()
  #isCopied = false
  readonly #createReader: (input: FetchRange, options: SourceReaderOptions) => SourceReader
  readonly #options: SourceReaderOptions
  readonly #secret: string
  #name = 'input'
  #port = 0
  #position = 0
  #bytesServed = 0
  #observer: ((first: number) => (bytes: Uint8Array) => void) | null = null
  /** Promises by path: requests to that path wait for them. */
  readonly #held = new Map<string, Promise<void>>()

  private constructor(
    source: (input: FetchRange, options: SourceReaderOptions) => SourceReader,
    input: FetchRange,
    options: SourceReaderOptions,
  ) {
    this.#createReader = source
    this.#options = options
    this.#input = input
    this.#reader = source(input, options)
    this.#secret = randomBytes(16).toString('hex')
    this.#server = createServer((request, response) => {
      void this.#serve(request, response).catch(() => response.destroy())
    })
  }

  /** `onFailure` is called once, with the first error that no retry resolved. */
  static async start(
    input: FetchRange,
    signal: AbortSignal,
    onFailure: (error: Error) => void,
    options: SourceReaderOptions = {},
  ): Promise<LoopbackServer> {
    const server = new LoopbackServer((each, its) => new SourceReader(each, signal, onFailure, its), input, options)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    server.#port = (server.#server.address() as AddressInfo).port
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}${this.#path}`
  }

  get #path(): string {
    return `/${this.#secret}/${this.#name}`
  }

  /** From now on ffmpeg follows the jumps of an FLV file's clock: `url` says so (ffmpeg/inputAllowlist.ts). */
  readAsLive(): void {
    this.#name = LIVE_NAME
  }

  /** Must be removed from every text that leaves the process. */
  get secret(): string {
    return this.#secret
  }

  /** Opens the source now, so that its errors are reported as such and not as errors of a decoder. */
  async open(): Promise<{ size: number | null; ranges: boolean; head: Uint8Array }> {
    const { size, ranges } = await this.#reader.open()
    return { size, ranges, head: this.#reader.head }
  }

  /** What tells one version of the source from another. */
  async version(): Promise<{ size: number | null; etag: string | null }> {
    const { size, etag } = await this.#reader.open()
    return { size, etag }
  }

  /**
   * Creates another address of the source, where requests wait until `release`: a program can start before its input is
   * available.
   */
  hold(): HeldAddress {
    const { promise, resolve } = Promise.withResolvers<void>()
    const name = `-${this.#held.size + 1}`
    this.#held.set(`${this.#path}${name}`, promise)
    return { url: `${this.url}${name}`, release: resolve }
  }

  /** The source was first brought to this disk: every other attempt would have to do the same. */
  get isCopied(): boolean {
    return this.#isCopied
  }

  /** What gives the bytes of the source. */
  get input(): FetchRange {
    return this.#input
  }

  /** From now on serves another source, made from the first one, at the same address. No reader may be active. */
  async replaceSource(input: FetchRange): Promise<void> {
    this.#isCopied = true
    this.#input = input
    await this.#reader.close()
    // The new source is on the disk already and needs no cache.
    const { cacheFile: _, ...options } = this.#options
    this.#reader = this.#createReader(input, options)
    this.#map = new StableMap()
    this.#position = 0
  }

  /** Bytes read from now on are not cached: no later reader needs them. */
  stopCaching(): void {
    this.#reader.stopCaching()
  }

  /** See SourceReader.expect. A source that was brought to this disk is read as it is. */
  expect(expected: ExpectedBytes | null): void {
    if (!this.#isCopied) this.#reader.expect(expected)
  }

  /** See SourceReader.skip. */
  skip(bytes: SkippedBytes): void {
    if (!this.#isCopied) this.#reader.skip(bytes)
  }

  /** The whole source, for use in this process. */
  async *read(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { size, ranges } = await this.#reader.open()
    yield* this.#read(ranges && size !== null ? { first: 0, last: size - 1 } : null, signal)
  }

  /**
   * A few bytes of the source; fewer at its end, and none from the middle of a source without ranges. Throws RangeError
   * for a place before its beginning: the reader would ask for bytes that never come.
   */
  async readRange(first: number, count: number, signal: AbortSignal): Promise<Uint8Array> {
    if (first < 0) throw new RangeError(`The source has no byte ${first}.`)
    const { size, ranges } = await this.#reader.open()
    if ((first > 0 && !ranges) || count <= 0 || (size !== null && first >= size)) return new Uint8Array()
    const last = first + count - 1
    const range = ranges && size !== null ? { first, last: Math.min(last, size - 1) } : null
    const blocks: Uint8Array[] = []
    let read = 0
    for await (const block of this.#read(range, signal)) {
      blocks.push(block)
      read += block.length
      if (read >= count) break
    }
    return Buffer.concat(blocks).subarray(0, count)
  }

  /** The first program maps of a transport stream; empty before its beginning was read. */
  get programs(): readonly ProgramMap[] {
    return this.#map.programs
  }

  /** Streams of a transport stream that ended before it did, as far as it was read. */
  get endedStreams(): readonly EndedStream[] {
    return this.#map.ended
  }

  /** What all readers get: the bytes of the source, where the streams of a transport stream keep their PIDs. */
  async *#read(range: ByteRange | null, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const reader = this.#map.reader(range?.first ?? 0)
    for await (const block of this.#reader.read(range, signal)) {
      const bytes = reader.push(block)
      if (bytes.length > 0) yield bytes
    }
    const rest = reader.end()
    if (rest.length > 0) yield rest
  }

  /** Position of the newest reader, 0…1; 0 if the size is unknown. */
  get readFraction(): number {
    const size = this.#reader.info?.size
    return size ? Math.min(1, this.#position / size) : 0
  }

  /** From now on `onReader` is told of each reader that connects, and what it returns gets the bytes of that reader. */
  observe(onReader: (first: number) => (bytes: Uint8Array) => void): void {
    this.#observer = onReader
  }

  /** Bytes that all readers have got so far. The number grows as long as a program reads the source. */
  get bytesServed(): number {
    return this.#bytesServed
  }

  integrity(): SourceIntegrity {
    const error = this.#reader.failure ?? this.#reader.pendingError
    return {
      complete: error === null,
      ...(error === null ? {} : { error }),
      size: this.#reader.info?.size ?? null,
    }
  }

  async close(): Promise<void> {
    await this.#reader.close()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refuse = (status: number, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-length': '0', ...headers }).end()
    }
    // The Host header is checked against DNS rebinding: a request for a name that resolves to loopback is rejected.
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    const path = request.url ?? ''
    if (host !== '127.0.0.1' || (path !== this.#path && !this.#held.has(path))) return refuse(404)
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405)
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    await this.#held.get(path)
    // 410 and not 5xx: ffmpeg would retry after those, and the source stays unavailable.
    if (this.#reader.failure !== null) return refuse(410)
    const facts = await this.#reader.open().catch(() => null)
    if (facts === null) return refuse(410)

    const wanted = parseRange(request.headers.range, facts.size)
    if (wanted === 'none' || (wanted !== null && wanted.first > 0 && !facts.ranges))
      return refuse(416, { 'content-range': `bytes */${facts.size ?? '*'}` })
    const range = facts.ranges && facts.size !== null ? (wanted ?? { first: 0, last: facts.size - 1 }) : null
    const length = range === null ? facts.size : range.last - range.first + 1
    response.writeHead(wanted !== null && range !== null ? 206 : 200, {
      'content-type': 'application/octet-stream',
      'accept-ranges': facts.ranges ? 'bytes' : 'none',
      ...(facts.etag === null ? {} : { etag: facts.etag }),
      ...(length === null ? {} : { 'content-length': String(length) }),
      ...(wanted !== null && range !== null
        ? { 'content-range': `bytes ${range.first}-${range.last}/${facts.size}` }
        : {}),
    })
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    // pipeline destroys the socket if the source fails: a truncated body must not look complete.
    await pipeline(this.#counted(range, gone.signal), response).catch(() => response.destroy())
  }

  async *#counted(range: ByteRange | null, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let at = range?.first ?? 0
    const observe = this.#observer?.(at)
    for await (const block of this.#read(range, signal)) {
      observe?.(block)
      at += block.length
      this.#position = at
      this.#bytesServed += block.length
      yield block
    }
  }
}

/**
 * RFC 9110, 14.2: one byte range; null = none, or one that is not understood: the whole is served; 'none' = not
 * satisfiable.
 */
export function parseRange(header: string | undefined, size: number | null): ByteRange | 'none' | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return null
  if (size === null) return match[1] === '0' ? null : 'none'
  if (match[1] === '') {
    const count = Math.min(size, Number(match[2]))
    return count === 0 ? 'none' : { first: size - count, last: size - 1 }
  }
  const first = Number(match[1])
  const last = match[2] === '' ? size - 1 : Math.min(size - 1, Number(match[2]))
  if (match[2] !== '' && Number(match[2]) < first) return null
  return first >= size ? 'none' : { first, last }
}
