// In charge of: reading the source through the task API as one unbroken file: ranges, one of read-ahead, resuming at
// the current position, and failing explicitly. It never returns wrong bytes, and never ends before the end of the
// source.
// Not in charge of: HTTP towards ffmpeg (loopbackServer.ts).
import { StaleAttempt } from '../errors.ts'
import { TaskError } from '#contract/taskError.ts'
import {
  defaultBackoff,
  UPSTREAM_RETRY_MS,
  sleep,
  TransientError,
  RetryState,
  type Backoff,
  type RetryPolicy,
} from '../taskApi/retry.ts'
import {
  checkFirstResponse,
  checkNextResponse,
  type ByteRange,
  type RangeResponse,
  type SourceInfo,
} from './rangeResponse.ts'
import { BlockBuffer } from './blockBuffer.ts'
import type { ExpectedBytes } from './expectedBytes.ts'
import type { SkippedBytes } from './skippedBytes.ts'
import { MinimumRate, type MinimumRateOptions } from './minimumRate.ts'
import { ReadCache } from './readCache.ts'

export type FetchRange = (range: ByteRange | null, etag: string | null, signal: AbortSignal) => Promise<Response>

export interface SourceReaderOptions extends MinimumRateOptions {
  /**
   * Bytes of the largest read. A local R2 GET of a multipart object has no backpressure, so a read must be small enough
   * to fit in memory.
   */
  rangeBytes?: number
  /** Bytes of a reader's first read; each further one is twice as large. */
  firstReadBytes?: number | undefined
  backoff?: Backoff
  /** Milliseconds without a single byte after which the source is given up. */
  retryForMs?: number
  /** The same before the source was first opened, if the service answers that the source is unavailable. */
  upstreamMs?: number
  /** How long an error that retries rarely resolve must last before it is reported. */
  connectionRetryMs?: number
  /**
   * Longest silence within one read. Shorter than ffmpeg's own -rw_timeout of 20 s, so that the read is resumed before
   * ffmpeg gives up.
   */
  stallMs?: number
  /** Path of a cache file for bytes that several readers need; undefined = no cache. */
  cacheFile?: string
  /** Maximum size of the cache. */
  maxCacheBytes?: number
  /** Told of all bytes that arrive. */
  onBytes?: (count: number) => void
}

/**
 * Default of `firstReadBytes`. Probes and seeks read a little and disconnect; by then the store has sent the whole range,
 * and counts it.
 */
const FIRST_READ_BYTES = 1024 * 1024

/** Bytes of a first read where nothing is expected to be read; each further one is twice as large. */
const UNEXPECTED_BYTES = 64 * 1024
/**
 * Wait before each further read, once a reader has read all that is expected. It may not want the rest: buffers between it
 * and this process take megabytes that an encoder does not need to finish. ffmpeg gives up after 20 s without a byte,
 * of which a request may take 15.
 */
const AFTER_EXPECTED_MS = 4000
/** The same wait where a reader seeks or probes: it ends after a few hundred kilobytes. */
const UNEXPECTED_MS = 50

/** Enough for a byte order mark and `#EXTM3U`. */
const HEAD_BYTES = 16

interface Skipping {
  bytes: SkippedBytes
  between: BlockBuffer
}

export class SourceReader {
  readonly #fetchRange: FetchRange
  readonly #signal: AbortSignal
  readonly #onFailure: (error: Error) => void
  readonly #rangeBytes: number
  readonly #firstReadBytes: number
  readonly #retryPolicy: RetryPolicy
  readonly #stallMs: number
  readonly #minimumRate: MinimumRate
  readonly #cache: ReadCache | null
  readonly #onBytes: (count: number) => void
  #info: SourceInfo | null = null
  #opening: Promise<SourceInfo> | null = null
  /** The body of the first response, kept for the first reader that starts at byte 0. */
  #firstResponse: RangeResponse | null = null
  #head: Uint8Array = new Uint8Array()
  #failure: Error | null = null
  #retryState: RetryState
  #expected: ExpectedBytes | null = null
  #skipping: Skipping | null = null

  constructor(
    input: FetchRange,
    signal: AbortSignal,
    onFailure: (error: Error) => void,
    options: SourceReaderOptions = {},
  ) {
    this.#fetchRange = input
    this.#signal = signal
    this.#onFailure = onFailure
    this.#rangeBytes = options.rangeBytes ?? 8 * 1024 * 1024
    this.#firstReadBytes = options.firstReadBytes ?? FIRST_READ_BYTES
    this.#retryPolicy = {
      totalMs: options.retryForMs ?? 60_000,
      connectionRetryMs: options.connectionRetryMs,
      backoff: options.backoff ?? defaultBackoff,
    }
    this.#retryState = new RetryState({ ...this.#retryPolicy, upstreamMs: options.upstreamMs ?? UPSTREAM_RETRY_MS })
    this.#stallMs = options.stallMs ?? 15_000
    this.#minimumRate = new MinimumRate(options)
    this.#onBytes = options.onBytes ?? (() => undefined)
    this.#cache = options.cacheFile === undefined ? null : new ReadCache(options.cacheFile, options.maxCacheBytes)
  }

  /** The first error that no retry resolved. */
  get failure(): Error | null {
    return this.#failure
  }

  /** The error of a read that failed and has not succeeded since: ffmpeg may have given up before the retries end. */
  get pendingError(): Error | null {
    return this.#retryState.error?.finalError ?? null
  }

  get info(): SourceInfo | null {
    return this.#info
  }

  get #firstBytes(): number {
    return Math.min(this.#firstReadBytes, this.#rangeBytes)
  }

  /** Requests the first range and stores the facts of the response. */
  open(): Promise<SourceInfo> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  async #open(): Promise<SourceInfo> {
    for (;;) {
      try {
        const response = await this.#request({ first: 0, last: this.#firstBytes - 1 }, null, this.#signal)
        const { facts, delivery } = await checkFirstResponse(response)
        this.#firstResponse = await this.#peekHead(delivery)
        this.#info = facts
        // From here on there is work to lose: the retries take longer and keep the transcoder.
        this.#retryState = new RetryState(this.#retryPolicy)
        return facts
      } catch (error) {
        await this.#waitToRetry(error, this.#signal)
      }
    }
  }

  /** The first bytes of the source, once it is open: enough to distinguish a playlist from media. */
  get head(): Uint8Array {
    return this.#head
  }

  /** Reads the first bytes of a body without consuming them. */
  async #peekHead(delivery: RangeResponse): Promise<RangeResponse> {
    const reader = delivery.body.getReader()
    const timer = setTimeout(() => void reader.cancel().catch(() => undefined), this.#stallMs)
    const blocks: Uint8Array[] = []
    try {
      for (let size = 0; size < HEAD_BYTES;) {
        const { done, value } = await reader.read()
        if (done) break
        blocks.push(value)
        size += value.length
      }
    } catch (error) {
      throw connectionError(error)
    } finally {
      clearTimeout(timer)
    }
    this.#head = Buffer.concat(blocks).subarray(0, HEAD_BYTES)
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = blocks.length > 0 ? { done: false, value: blocks.shift() } : await reader.read()
        if (done || value === undefined) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    })
    return { ...delivery, body }
  }

  /** Bytes `first` to `last`, inclusive; a source without ranges is always read from 0 to its end. */
  async *read(range: ByteRange | null, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const facts = await this.open()
    if (facts.ranges && range !== null)
      yield* this.#readRanges(facts, range, signal, { skipped: this.#skipping, firstBytes: this.#firstBytes })
    else yield* this.#readWhole(facts, signal)
  }

  /** Bytes read from now on are not cached: no later reader needs them. */
  stopCaching(): void {
    this.#cache?.seal()
  }

  /**
   * From now on nothing else is read ahead; all of the source can be read. With an empty list, readers want a little
   * here and there; null = all of the source.
   */
  expect(expected: ExpectedBytes | null): void {
    this.#expected = expected
  }

  /**
   * From now on readers get zeros for these bytes, and they are not requested. What lies between them is read in blocks.
   */
  skip(bytes: SkippedBytes): void {
    this.#skipping = { bytes, between: new BlockBuffer(bytes.between, (range) => this.#readBlock(range)) }
  }

  async #readBlock(range: ByteRange): Promise<Uint8Array> {
    const info = await this.open()
    const whole = { skipped: null, firstBytes: this.#rangeBytes }
    const blocks: Uint8Array[] = []
    for await (const block of this.#readRanges(info, range, this.#signal, whole)) blocks.push(block)
    return Buffer.concat(blocks)
  }

  async close(): Promise<void> {
    await this.#takeFirstResponse()
      ?.body.cancel()
      .catch(() => undefined)
    await this.#cache?.close()
  }

  async *#readRanges(
    info: SourceInfo,
    range: ByteRange,
    signal: AbortSignal,
    { skipped, firstBytes }: { skipped: Skipping | null; firstBytes: number },
  ): AsyncGenerator<Uint8Array> {
    let at = range.first
    let size = firstBytes
    let unexpectedSize = UNEXPECTED_BYTES
    let pauseMs = UNEXPECTED_MS
    let span: ByteRange = { first: at, last: at - 1 }
    let ahead: { first: number; delivery: Promise<RangeResponse> } | null = null
    const begin = (first: number, last: number): Promise<RangeResponse> => {
      const kept = first === 0 ? this.#takeFirstResponse() : null
      return kept === null ? this.#next(info, { first, last }, signal) : Promise.resolve(kept)
    }
    // A range ends at a multiple of its size, so that the ranges of all readers lie on one grid.
    const spanFrom = (first: number): ByteRange => ({
      first,
      last: Math.min(
        range.last,
        (Math.floor(first / size) + 1) * size - 1,
        this.#expected?.lastFrom(first) ?? Number.POSITIVE_INFINITY,
        (skipped?.bytes.nextFrom(first) ?? Number.POSITIVE_INFINITY) - 1,
      ),
    })
    const isExpected = (first: number): boolean => this.#expected === null || this.#expected.lastFrom(first) !== null
    const isRead = (first: number): boolean => isExpected(first) && skipped?.bytes.nextFrom(first) !== first
    try {
      while (at <= range.last) {
        const seen = ahead?.first === at ? at : Math.min(this.#cache?.cachedUntil(at) ?? at, range.last + 1)
        if (seen > at) {
          for await (const block of this.#cache!.read(at, seen)) {
            signal.throwIfAborted()
            at += block.length
            yield block
          }
          // If the disk failed, the cache returned less than announced: the rest is requested.
          continue
        }
        const wanted = range.last - at + 1
        const known = skipped?.bytes.zerosAt(at, wanted) ?? (await skipped?.between.read(at))?.subarray(0, wanted)
        if (known !== undefined) {
          signal.throwIfAborted()
          at += known.length
          yield known
          continue
        }
        if (at > span.last && !isExpected(at)) {
          if (at > range.first) await sleep(pauseMs, signal)
          span = { first: at, last: Math.min(range.last, at + unexpectedSize - 1) }
          unexpectedSize = Math.min(2 * unexpectedSize, FIRST_READ_BYTES)
        } else if (at > span.last) {
          span = spanFrom(at)
          size = Math.min(2 * size, this.#rangeBytes)
          pauseMs = AFTER_EXPECTED_MS
        }
        // After a resume in the middle, the range ends at the same byte: the read-ahead still fits.
        const { last } = span
        const first = at
        const pending: Promise<RangeResponse> = ahead?.first === at ? ahead.delivery : begin(first, last)
        if (ahead?.first === at) ahead = null
        try {
          for await (const block of this.#bytes(await pending, last - first + 1, signal)) {
            await this.#cache?.store(at, block)
            at += block.length
            yield block
            // The read-ahead starts after half of the range: a reader of the first bytes only (a probe, a seek) causes
            // no second read.
            const then = Math.max(last + 1, this.#cache?.cachedUntil(last + 1) ?? 0)
            if (ahead === null && then <= range.last && isRead(then) && at - first > (last - first) / 2) {
              const next = spanFrom(then)
              ahead = { first: next.first, delivery: this.#next(info, next, signal) }
              ahead.delivery.catch(() => undefined) // the error is thrown when this range is read
            }
          }
        } catch (error) {
          await this.#waitToRetry(error, signal)
        }
      }
    } finally {
      await ahead?.delivery.then(
        (delivery) => delivery.body.cancel(),
        () => undefined,
      )
    }
  }

  async *#readWhole(info: SourceInfo, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let at = 0
    for (;;) {
      try {
        const delivery = this.#takeFirstResponse() ?? (await this.#next(info, null, signal))
        for await (const block of this.#bytes(delivery, info.size, signal)) {
          at += block.length
          yield block
        }
        return
      } catch (error) {
        if (error instanceof TransientError && at > 0 && !signal.aborted) {
          const why = 'The connection to the source dropped, and its server cannot resume in the middle.'
          throw this.#fail(
            new TaskError('source_incomplete', why, { details: { bytes_read: at }, cause: error.finalError }),
          )
        }
        await this.#waitToRetry(error, signal)
      }
    }
  }

  #takeFirstResponse(): RangeResponse | null {
    const response = this.#firstResponse
    this.#firstResponse = null
    return response
  }

  async #next(info: SourceInfo, asked: ByteRange | null, signal: AbortSignal): Promise<RangeResponse> {
    return checkNextResponse(await this.#request(asked, info.etag, signal), info, asked)
  }

  async #request(range: ByteRange | null, etag: string | null, signal: AbortSignal): Promise<Response> {
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(new Error('it did not respond in time')), this.#stallMs)
    const began = performance.now()
    let response: Response
    try {
      // The timer is stopped when the headers have arrived; #bytes then limits the silence in the body.
      response = await this.#fetchRange(range, etag, AbortSignal.any([signal, timeout.signal]))
    } catch (error) {
      // The service itself answers at once: a timeout is caused by the source.
      throw connectionError(error, timeout.signal.aborted)
    } finally {
      clearTimeout(timer)
    }
    const slow = this.#minimumRate.check(performance.now() - began, 0)
    if (slow === null) return response
    await response.body?.cancel().catch(() => undefined)
    throw this.#fail(slow)
  }

  /** The body's bytes, exactly as many as it announced and never more than `wanted`. */
  async *#bytes(delivery: RangeResponse, wanted: number | null, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const reader = delivery.body.getReader()
    let silent = false
    const stop = (): void => void reader.cancel().catch(() => undefined)
    signal.addEventListener('abort', stop, { once: true })
    let left = Math.min(delivery.length ?? Infinity, wanted ?? Infinity)
    try {
      while (left > 0) {
        const timer = setTimeout(() => {
          silent = true
          stop()
        }, this.#stallMs)
        const began = performance.now()
        const { done, value } = await reader
          .read()
          .catch((error: unknown) => {
            throw connectionError(error)
          })
          .finally(() => clearTimeout(timer))
        signal.throwIfAborted()
        if (silent) throw connectionError(new Error('no data arrived for too long'))
        if (done) {
          if (left !== Infinity) throw connectionError(new Error('it ended before its announced length'))
          return
        }
        if (value.length === 0) continue
        this.#retryState.reset()
        this.#onBytes(value.length)
        const slow = this.#minimumRate.check(performance.now() - began, value.length)
        if (slow !== null) throw this.#fail(slow)
        const block = value.length > left ? value.subarray(0, left) : value
        left -= block.length
        yield block
      }
    } finally {
      signal.removeEventListener('abort', stop)
      await reader.cancel().catch(() => undefined)
    }
  }

  /** Returns after a pause if a retry may succeed; throws if it cannot, or if the error has lasted too long. */
  async #waitToRetry(error: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (!(error instanceof TransientError)) throw this.#fail(error)
    const wait = this.#retryState.nextDelay(error)
    if (wait === null) throw this.#fail(error.finalError)
    await sleep(wait, signal)
  }

  /** Only the first error that ends the source is kept. */
  #fail(error: unknown): Error {
    const failure =
      error instanceof TaskError || error instanceof StaleAttempt
        ? error
        : new TaskError('source_unreachable', 'The source could not be read.', { cause: error })
    if (this.#failure === null) {
      this.#failure = failure
      this.#onFailure(failure)
    }
    return this.#failure
  }
}

function connectionError(error: unknown, elsewhere = false): TransientError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const why = cause instanceof Error ? cause.message : String(cause)
  const sourceError = new TaskError('source_unreachable', `The source could not be read: ${why}.`, { cause: error })
  return new TransientError(sourceError, null, elsewhere)
}
