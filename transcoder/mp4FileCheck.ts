// In charge of: walking the top-level boxes of an mp4 on disk (ISO/IEC 14496-12, 4.2).
// Not in charge of: the contents of the boxes.
import { open } from 'node:fs/promises'
import { BOX_TYPE } from './formats/mp4/boxReader.ts'

export interface Box {
  type: string
  /** Offset from the start of the file. `size`: bytes of the whole box with its header. */
  offset: number
  size: number
}

export interface Mp4Check {
  /** moov comes before mdat: playback can begin before the whole file has arrived. */
  moovBeforeMdat: boolean
  /**
   * The boxes follow one another without a gap up to exactly the end of the file, and include both moov and mdat.
   * False for a truncated file, and for one whose `-moov_size` was too small: ffmpeg exits with 0 then, and media is
   * lost.
   */
  complete: boolean
  /** Why the file is not complete, as a sentence; null if it is. */
  problem: string | null
  boxes: Box[]
}

/** Files written by this service have five; a damaged one could claim billions. */
const MAX_BOXES = 10_000

/** Reads a few bytes of each box. Throws only if the file cannot be read. */
export async function checkMp4(path: string): Promise<Mp4Check> {
  const file = await open(path, 'r')
  try {
    const { size: end } = await file.stat()
    const boxes: Box[] = []
    const header = Buffer.alloc(16)
    let offset = 0
    while (offset < end) {
      const { bytesRead } = await file.read(header, 0, 16, offset)
      const box = readHeader(header.subarray(0, bytesRead), offset, end)
      if (typeof box === 'string') return checkOrder(boxes, box)
      if (boxes.push(box) > MAX_BOXES) return checkOrder(boxes, `more than ${MAX_BOXES} boxes`)
      offset += box.size
    }
    return checkOrder(boxes, null)
  } finally {
    await file.close()
  }
}

function readHeader(header: Buffer, offset: number, end: number): Box | string {
  if (header.length < 8) return `${header.length} bytes at ${offset} are too few for a box`
  const type = header.toString('latin1', 4, 8)
  if (!BOX_TYPE.test(type)) return `no box begins at ${offset}`
  const short = header.readUInt32BE(0)
  if (short === 1 && header.length < 16) return `the box ${type} at ${offset} is cut off`
  // 1 = a 64-bit size follows; 0 = the box extends to the end of the file.
  const size = short === 1 ? Number(header.readBigUInt64BE(8)) : short === 0 ? end - offset : short
  if (size < (short === 1 ? 16 : 8)) return `the box ${type} at ${offset} claims ${size} bytes`
  if (offset + size > end) return `the box ${type} at ${offset} reaches ${offset + size - end} bytes beyond the end`
  return { type, offset, size }
}

function checkOrder(boxes: Box[], broken: string | null): Mp4Check {
  const first = (type: string) => boxes.findIndex((box) => box.type === type)
  const [moov, mdat] = [first('moov'), first('mdat')]
  const absent = ['ftyp', 'moov', 'mdat'].filter((type) => first(type) < 0)
  const problem = broken ?? (absent.length > 0 ? `there is no ${absent.join(' and no ')}` : null)
  return { moovBeforeMdat: moov >= 0 && (mdat < 0 || moov < mdat), complete: problem === null, problem, boxes }
}
