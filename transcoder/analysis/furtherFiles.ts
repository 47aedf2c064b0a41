// In charge of: files that were put one behind the other (`cat a.webm b.webm`): where the second one and further ones begin.
// ffmpeg reads the first one of them alone.
// Not in charge of: reading all of them (pipeline/join/sourcePieces.ts), containers that go on anyway, as transport streams.
import { INPUTS } from '#contract/limits.ts'
import type { ReadBytes } from './transportSeek.ts'

/** Reads from `at`, where such a file begins. */
type FindNext = (read: ReadBytes, at: number, size: number) => Promise<number | null>

/** By ffmpeg's names of containers. */
const CONTAINERS: Readonly<Record<string, FindNext>> = {
  matroska: nextMatroska,
  asf: nextAsf,
  mov: nextMp4,
  avi: nextRiff,
  wav: nextRiff,
  ogg: nextOgg,
}

/**
 * @returns the positions of all files but the first, at most as many as inputs; empty where there is one, or where its
 * container is not known here
 */
export async function findFurtherFiles(formats: readonly string[], read: ReadBytes, size: number): Promise<number[]> {
  const findNext = formats.map((format) => CONTAINERS[format]).find((each) => each !== undefined)
  if (findNext === undefined) return []
  const found: number[] = []
  let at: number | null = 0
  while (found.length < INPUTS.maximum) {
    at = await findNext(read, at, size)
    if (at === null || at >= size) break
    found.push(at)
  }
  // ffmpeg goes on with the sound of the next: a day of radio is as many files as titles.
  return findNext === nextOgg && found.length === INPUTS.maximum ? [] : found
}

/** Objects, boxes or chunks of one file that are looked at: a few, or one for each gigabyte of a long AVI. */
const MOST_OBJECTS = 256

const latin = (bytes: Uint8Array, from = 0, to = bytes.length): string =>
  Buffer.from(bytes.subarray(from, to)).toString('latin1')

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** EBML (RFC 8794, 4 to 6 and 11.1), Matroska (RFC 9559). */
const EBML = '\x1a\x45\xdf\xa3'
const SEGMENT = '\x18\x53\x80\x67'
/** DocType, in the first bytes of a file. */
const DOC_TYPES = ['\x42\x82\x84webm', '\x42\x82\x88matroska']
const MAGIC_BYTES = 80
const SCAN_STEP = 8 * 1024 * 1024
/** Recordings of browsers state no length: they are looked through, as far as this. */
const MOST_SCANNED = 256 * 1024 * 1024

async function nextMatroska(read: ReadBytes, at: number, size: number): Promise<number | null> {
  const head = await read(at, 64)
  const header = elementSize(head, 4)
  if (latin(head, 0, 4) !== EBML || header === null) return null
  const segment = at + header.end + header.value
  const begin = await read(segment, 12)
  const length = elementSize(begin, 4)
  if (latin(begin, 0, 4) !== SEGMENT || length === null) return null
  if (length.value !== Infinity) {
    const end = segment + length.end + length.value
    return latin(await read(end, 4)) === EBML ? end : null
  }
  const last = Math.min(size, at + MOST_SCANNED)
  let rest = ''
  for (let from = segment; from < last; from += SCAN_STEP) {
    const text = rest + latin(await read(from, SCAN_STEP))
    for (let found = text.indexOf(EBML); found !== -1; found = text.indexOf(EBML, found + EBML.length)) {
      const head = text.slice(found, found + MAGIC_BYTES)
      if (DOC_TYPES.some((type) => head.includes(type))) return from - rest.length + found
    }
    // The next file may begin in the last bytes.
    rest = text.slice(-MAGIC_BYTES)
  }
  return null
}

/** The size of an element's content, and where that begins; Infinity = it is not known. */
function elementSize(bytes: Uint8Array, at: number): { value: number; end: number } | null {
  const first = bytes[at] ?? 0
  const length = Math.clz32(first) - 23
  if (length > 8 || at + length > bytes.length) return null
  const rest = bytes.subarray(at + 1, at + length)
  const low = first & (0xff >> length)
  const isUnknown = low === 0xff >> length && rest.every((byte) => byte === 0xff)
  const value = rest.reduce((sum, byte) => sum * 256 + byte, low)
  return { value: isUnknown ? Infinity : value, end: at + length }
}

/** Advanced Systems Format, 2.1: objects of a GUID and a size. */
const ASF_HEADER = '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c'

async function nextAsf(read: ReadBytes, first: number, size: number): Promise<number | null> {
  let at = first
  for (let object = 0; object < MOST_OBJECTS && at < size; object += 1) {
    const head = await read(at, 24)
    if (head.length < 24) return null
    if (at > first && latin(head, 0, 16) === ASF_HEADER) return at
    const length = Number(viewOf(head).getBigUint64(16, true))
    if (length < 24) return null
    at += length
  }
  return null
}

/** ISO/IEC 14496-12, 4.2. Fragments are many, and a file of them is read as one presentation. */
async function nextMp4(read: ReadBytes, first: number, size: number): Promise<number | null> {
  let at = first
  let hasIndex = false
  for (let box = 0; box < MOST_OBJECTS && at < size; box += 1) {
    const head = await read(at, 16)
    if (head.length < 8) return null
    const type = latin(head, 4, 8)
    if (type === 'moof') return null
    if (type === 'ftyp' && hasIndex) return at
    if (type === 'moov') hasIndex = true
    const short = viewOf(head).getUint32(0)
    const length = short === 1 && head.length === 16 ? Number(viewOf(head).getBigUint64(8)) : short
    if (length < 8) return null
    at += length
  }
  return null
}

/** Microsoft, Multimedia Programming Interface and Data Specifications 1.0. A long AVI goes on in further chunks, `AVIX`. */
async function nextRiff(read: ReadBytes, first: number, size: number): Promise<number | null> {
  let at = first
  let kind = ''
  for (let chunk = 0; chunk < MOST_OBJECTS && at < size; chunk += 1) {
    const head = await read(at, 12)
    if (head.length < 12 || latin(head, 0, 4) !== 'RIFF') return null
    const type = latin(head, 8, 12)
    if (at > first && type === kind) return at
    if (at > first && type !== 'AVIX') return null
    if (at === first) kind = type
    const length = viewOf(head).getUint32(4, true)
    // A stream that was not seekable when it was written.
    if (length === 0 || length === 0xff_ff_ff_ff) return null
    at += 8 + length + (length % 2)
  }
  return null
}

/** RFC 3533: pages; the first one of each stream says so. Streams of the next file have other serial numbers. */
const MOST_PAGE_BYTES = 65_307
const LOOK_BYTES = 2 * MOST_PAGE_BYTES

interface Page {
  at: number
  isFirst: boolean
  serial: number
}

async function nextOgg(read: ReadBytes, first: number, size: number): Promise<number | null> {
  const pagesAt = async (at: number): Promise<Page[]> => pagesIn(await read(at, LOOK_BYTES), at)
  const head = await pagesAt(first)
  const beginning = head.findIndex(({ isFirst }) => !isFirst)
  const own = new Set(head.slice(0, beginning === -1 ? head.length : beginning).map(({ serial }) => serial))
  const isNext = ({ serial }: Page): boolean => !own.has(serial)
  const last = (await pagesAt(Math.max(first, size - LOOK_BYTES))).at(-1)
  if (last === undefined || !isNext(last)) return null
  let [low, high] = [first, last.at]
  while (high - low > LOOK_BYTES) {
    const middle = Math.floor((low + high) / 2)
    const [page] = await pagesAt(middle)
    if (page === undefined || page.at >= high || isNext(page)) high = middle
    else low = page.at
  }
  const between = pagesIn(await read(low, high - low + LOOK_BYTES), low)
  return between.find((page) => page.isFirst && isNext(page))?.at ?? null
}

function pagesIn(bytes: Uint8Array, first: number): Page[] {
  const pages: Page[] = []
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = text.indexOf('OggS\0'); at !== -1 && at + 27 <= text.length; at = text.indexOf('OggS\0', at + 27))
    pages.push({ at: first + at, isFirst: (text[at + 5]! & 2) !== 0, serial: text.readUInt32LE(at + 14) })
  return pages
}
