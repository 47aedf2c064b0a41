// In charge of: the evidence that the chunks of a source without an index have exactly the frames of one run: its time
// stamps run on from the first byte to the last, and its pictures have one format.
// Not in charge of: the frames of a chunk (segmenter/segmentCheck.ts), where it begins to read (division/chunkPlace.ts).
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { ContinuityScan } from '../formats/mpegts/continuity.ts'
import type { ReadingWatch } from '../pipeline/transcode.ts'
import type { ChunkRecord } from './partRecord.ts'
import { UnlikeChunks } from './unlikeChunks.ts'

export type ReadRecord = NonNullable<ChunkRecord['read']>

/** The format of the first frame that configures filters; again for each frame with another one. */
const CONFIGURED =
  /^\[graph[ _]\d+[ _]in(?:put from stream |_)0[:_]\d+ @ [^\]]*\] (?:\[\w+\] )?(w:\d+ h:\d+ pixfmt:\S+).* (sar:\S+)/

interface ByteSpan {
  first: number
  /** Exclusive. */
  end: number
}

/** What was read of a transport stream: the stretches, and whether the time stamps in them run on. */
export class TransportReads {
  readonly #pids: readonly number[]
  readonly #reads: { span: ByteSpan; scan: ContinuityScan }[] = []

  /** PIDs of the streams that count. */
  constructor(pids: readonly number[]) {
    this.#pids = pids
  }

  /** A reader begins at this byte. Returns what takes its bytes. */
  readonly begin = (first: number): ((bytes: Uint8Array) => void) => {
    const read = { span: { first, end: first }, scan: new ContinuityScan(this.#pids) }
    this.#reads.push(read)
    return (bytes) => {
      read.span.end += bytes.length
      read.scan.push(bytes)
    }
  }

  get hasJump(): boolean {
    return this.#reads.some(({ scan }) => scan.jumps > 0)
  }

  /** The stretch around this byte, of readers that overlap; null = nobody read it. */
  around(byte: number): ByteSpan | null {
    const spans = this.#reads.map(({ span }) => span).toSorted((one, other) => one.first - other.first)
    let found: ByteSpan | null = null
    for (const { first, end } of spans) {
      if (found !== null && first < found.end) found.end = Math.max(found.end, end)
      else if (found !== null && byte < found.end) break
      else found = { first, end }
    }
    return found !== null && found.first <= byte && byte < found.end ? found : null
  }
}

/** What one chunk saw of the source. */
export class ChunkReading implements ReadingWatch {
  readonly #reads: TransportReads
  readonly #formats = new Set<string>()
  #incomplete: string | null = null

  /** `sourceAudio`: of the whole job. */
  constructor({ video, audio }: MediaInfo, { sourceAudio }: Pick<Plan, 'sourceAudio'>) {
    const used = audio.filter(({ number }) => sourceAudio.includes(number))
    this.#reads = new TransportReads([video?.id ?? [], ...used.map(({ id }) => id ?? [])].flat())
  }

  /** For `LoopbackServer.observe`. */
  get onReader(): (first: number) => (bytes: Uint8Array) => void {
    return this.#reads.begin
  }

  /** A line of ffmpeg. */
  readonly onLine = (line: string): void => {
    const [, size, aspect] = CONFIGURED.exec(line) ?? []
    if (aspect !== undefined) this.#formats.add(`${size} ${aspect}`)
  }

  /** The chunk does not have its frames. */
  readonly onIncomplete = ({ message }: Error): void => {
    this.#incomplete ??= message
  }

  /** `plan`: of the chunk, with its place. Throws UnlikeChunks. */
  record({ range }: Pick<Plan, 'range'>): ReadRecord {
    if (this.#reads.hasJump) throw new UnlikeChunks('the time stamps of the source jump')
    if (this.#incomplete !== null)
      throw new UnlikeChunks(`a chunk has not its frames: ${withoutStop(this.#incomplete)}`)
    const [format] = this.#formats
    if (format === undefined || this.#formats.size > 1)
      throw new UnlikeChunks('the pictures of the source change their format')
    const span = this.#reads.around(range?.seek?.fromByte ?? 0)
    if (span === null) throw new UnlikeChunks('a chunk was not read from its place on')
    return { ...span, format }
  }
}

/**
 * `chunks`: in their order. `size`: bytes of the source; null = the job ends before it. Records of sources with an index
 * say nothing. Throws UnlikeChunks.
 */
export function requireContinuousReading(chunks: readonly Pick<ChunkRecord, 'read'>[], size: number | null): void {
  const reads = chunks.flatMap(({ read }) => read ?? [])
  if (reads.length === 0) return
  if (reads.some(({ format }) => format !== reads[0]!.format))
    throw new UnlikeChunks('the pictures of the source change their format')
  let end = 0
  for (const { first, end: next } of reads) {
    if (first > 0 && first >= end) throw new UnlikeChunks('the source was not read from its beginning to its end')
    end = Math.max(end, next)
  }
  if (size !== null && end < size) throw new UnlikeChunks('the source was not read from its beginning to its end')
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
