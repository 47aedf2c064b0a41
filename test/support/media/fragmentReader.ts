// In charge of: reading what ffmpeg writes as fragmented MP4: brands, edit lists, and each fragment's samples. It
// shares no code with the service's own reader, so that a mistake there is detected.
// Not in charge of: expectations.
import { readFile } from 'node:fs/promises'

export interface Sample {
  /** Presentation time in ticks. */
  time: number
  duration: number
  sync: boolean
  data: Buffer
}
export interface Fragment {
  /** tfdt, or tfxd of a smooth stream. */
  start: number
  samples: Sample[]
}
export interface FragmentedFile {
  brands: string[]
  boxes: string[]
  timescale: number
  sampleEntry: string
  fragments: Fragment[]
}

const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'edts', 'mvex', 'moof', 'traf'])
const TFXD = '6d1d9b0542d544e680e2141daff757b2'

interface Box {
  type: string
  path: string
  body: Buffer
}

function* walk(bytes: Buffer, path = ''): Generator<Box> {
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32BE(at)
    if (size < 8 || at + size > bytes.length) throw new Error(`a box of ${size} bytes in ${path} at ${at}`)
    const type = bytes.toString('latin1', at + 4, at + 8)
    const body = bytes.subarray(at + 8, at + size)
    yield { type, path: `${path}/${type}`, body }
    if (CONTAINERS.has(type)) yield* walk(body, `${path}/${type}`)
    at += size
  }
}

export async function readFragments(path: string): Promise<FragmentedFile> {
  const file: FragmentedFile = { brands: [], boxes: [], timescale: 0, sampleEntry: '', fragments: [] }
  let defaults = { duration: 0, size: 0, flags: 0 }
  let pending: { fragment: Fragment; sizes: number[] } | undefined
  for (const { type, path: name, body } of walk(await readFile(path))) {
    file.boxes.push(name)
    if (type === 'ftyp') file.brands = body.toString('latin1').match(/.{4}/gs) ?? []
    if (type === 'mdhd') file.timescale = body.readUInt32BE(body[0] === 1 ? 20 : 12)
    if (type === 'stsd') file.sampleEntry = body.toString('latin1', 12, 16)
    if (type === 'moof') pending = { fragment: { start: 0, samples: [] }, sizes: [] }
    if (pending === undefined) continue
    if (type === 'tfhd') defaults = readTfhd(body)
    if (type === 'tfdt') pending.fragment.start = body[0] === 1 ? Number(body.readBigUInt64BE(4)) : body.readUInt32BE(4)
    if (type === 'uuid' && body.toString('hex', 0, 16) === TFXD)
      pending.fragment.start = Number(body.readBigInt64BE(20))
    if (type === 'trun') readTrun(body, defaults, pending)
    if (type === 'mdat') {
      let decode = pending.fragment.start
      let at = 0
      for (const [index, sample] of pending.fragment.samples.entries()) {
        sample.time += decode
        decode += sample.duration
        sample.data = body.subarray(at, at + pending.sizes[index]!)
        at += pending.sizes[index]!
      }
      if (at !== body.length) throw new Error(`${body.length - at} bytes of a fragment belong to no sample`)
      file.fragments.push(pending.fragment)
      pending = undefined
    }
  }
  return file
}

function readTfhd(body: Buffer): { duration: number; size: number; flags: number } {
  const flags = body.readUIntBE(1, 3)
  let at = 8
  const next = (bit: number, bytes = 4) => {
    if ((flags & bit) === 0) return 0
    at += bytes
    return bytes === 8 ? 0 : body.readUInt32BE(at - 4)
  }
  next(1, 8)
  next(2)
  return { duration: next(8), size: next(0x10), flags: next(0x20) }
}

function readTrun(
  body: Buffer,
  defaults: { duration: number; size: number; flags: number },
  into: { fragment: Fragment; sizes: number[] },
): void {
  const flags = body.readUIntBE(1, 3)
  let at = 8
  const next = (bit: number, otherwise: number) => {
    if ((flags & bit) === 0) return otherwise
    at += 4
    return body.readInt32BE(at - 4)
  }
  next(1, 0)
  const first = next(4, defaults.flags)
  for (let index = 0; index < body.readUInt32BE(4); index += 1) {
    const duration = next(0x100, defaults.duration)
    into.sizes.push(next(0x200, defaults.size))
    const own = next(0x400, index === 0 ? first : defaults.flags)
    const time = next(0x800, 0)
    into.fragment.samples.push({ time, duration, sync: (own & 0x10000) === 0, data: body })
  }
}
