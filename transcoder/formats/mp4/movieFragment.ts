// In charge of: reading and writing one movie fragment: its time and its samples (ISO/IEC 14496-12, 8.8).
// Not in charge of: grouping samples into fragments (cmafVideoCutter.ts, refragmentingCutter.ts).
import { concatBytes } from '../concatBytes.ts'
import { FormatError } from '../formatError.ts'
import { children, findBox, requireBox, viewOf } from './boxReader.ts'
import type { SampleDefaults } from './initSegment.ts'

export interface Sample {
  /** Ticks. */
  duration: number
  size: number
  flags: number
  /** Composition offset in ticks; may be negative. */
  offset: number
}

export interface Fragment {
  /** baseMediaDecodeTime in ticks. */
  decodeTime: number
  samples: Sample[]
}

/** Ticks per second in fragments of Smooth Streaming ([MS-SSTR] 2.2.2.1, the default). */
export const SMOOTH_TIMESCALE = 10_000_000
/** sample_is_non_sync_sample. */
const NON_SYNC = 0x10000
/** Far above a minute of audio with the shortest frames. */
const MAX_SAMPLES = 100_000
const brokenFragment = (): FormatError => new FormatError('damaged', 'The encoder wrote a broken movie fragment.')

export function isSync(sample: Sample): boolean {
  return (sample.flags & NON_SYNC) === 0
}

/**
 * `moof` is the whole box. Its samples must be contiguous from the beginning of the mdat that follows, whose header has
 * `mdatHeaderBytes`. ffmpeg writes them so. Throws FormatError.
 */
export function readFragment(moof: Uint8Array, defaults: SampleDefaults, mdatHeaderBytes = 8): Fragment {
  const trafs = [...children(moof, 8)].filter(({ name }) => name === 'traf')
  if (trafs.length !== 1) throw brokenFragment()
  const traf = trafs[0]!.body
  const sampleDefaults = trackDefaults(requireBox(traf, 'tfhd'), defaults)
  const samples: Sample[] = []
  let at = moof.length + mdatHeaderBytes
  for (const { name, body } of children(traf, 0)) {
    if (name !== 'trun') continue
    const run = readRun(body, sampleDefaults)
    if (run.dataOffset !== null && run.dataOffset !== at) throw brokenFragment()
    samples.push(...run.samples)
    if (samples.length > MAX_SAMPLES) throw brokenFragment()
    at += run.samples.reduce((sum, { size }) => sum + size, 0)
  }
  if (samples.length === 0) throw brokenFragment()
  return { decodeTime: timeOf(traf), samples }
}

/** tfdt, or tfxd where the encoder wrote Smooth fragments. */
function timeOf(traf: Uint8Array): number {
  const tfdt = findBox(traf, 'tfdt')
  const uuid = [...children(traf, 0)].find(
    ({ name, body }) => name === 'uuid' && TFXD.every((byte, at) => body[at] === byte),
  )
  const body = tfdt ?? uuid?.body.subarray(TFXD.length)
  if (body === undefined || body.length < (body[0] === 1 ? 12 : 8)) throw brokenFragment()
  const time = body[0] === 1 ? Number(viewOf(body).getBigUint64(4)) : viewOf(body).getUint32(4)
  if (!Number.isSafeInteger(time)) throw brokenFragment()
  return time
}

function fields(bytes: Uint8Array): () => number {
  const view = viewOf(bytes)
  let at = 4
  return () => {
    if (at + 4 > bytes.length) throw brokenFragment()
    at += 4
    return view.getUint32(at - 4)
  }
}

function flagsOf(bytes: Uint8Array): number {
  if (bytes.length < 4) throw brokenFragment()
  return viewOf(bytes).getUint32(0) & 0xffffff
}

function trackDefaults(tfhd: Uint8Array, defaults: SampleDefaults): SampleDefaults {
  const flags = flagsOf(tfhd)
  const next = fields(tfhd)
  next() // track_ID
  // base_data_offset counts from the beginning of the file. These encoders' offsets are relative to the moof.
  if ((flags & 0x1) !== 0) throw brokenFragment()
  if ((flags & 0x2) !== 0) next()
  return {
    duration: (flags & 0x8) === 0 ? defaults.duration : next(),
    size: (flags & 0x10) === 0 ? defaults.size : next(),
    flags: (flags & 0x20) === 0 ? defaults.flags : next(),
  }
}

function readRun(trun: Uint8Array, defaults: SampleDefaults): { dataOffset: number | null; samples: Sample[] } {
  const flags = flagsOf(trun)
  const next = fields(trun)
  const count = next()
  if (count > MAX_SAMPLES) throw brokenFragment()
  const dataOffset = (flags & 0x1) === 0 ? null : next() | 0
  const firstFlags = (flags & 0x4) === 0 ? null : next()
  const samples = Array.from({ length: count }, (_, index) => ({
    duration: (flags & 0x100) === 0 ? defaults.duration : next(),
    size: (flags & 0x200) === 0 ? defaults.size : next(),
    flags: (flags & 0x400) === 0 ? (index === 0 ? (firstFlags ?? defaults.flags) : defaults.flags) : next(),
    offset: (flags & 0x800) === 0 ? 0 : trun[0] === 0 ? next() : next() | 0,
  }))
  return { dataOffset, samples }
}

export interface FragmentOptions {
  sequence: number
  trackId: number
  fragment: Fragment
  /** tfdt for CMAF. tfxd: absolute time and duration by [MS-SSTR] 2.2.4.6, in the samples' ticks. */
  time: 'tfdt' | 'tfxd'
}

/** [MS-SSTR] 2.2.4.6: 6d1d9b05-42d5-44e6-80e2-141daff757b2. */
const TFXD = [0x6d, 0x1d, 0x9b, 0x05, 0x42, 0xd5, 0x44, 0xe6, 0x80, 0xe2, 0x14, 0x1d, 0xaf, 0xf7, 0x57, 0xb2]

/**
 * Returns moof and the header of the mdat; the samples' bytes follow. Values that all samples share are written once.
 */
export function writeFragment({ sequence, trackId, fragment, time }: FragmentOptions): Uint8Array {
  const { samples, decodeTime } = fragment
  const same = (field: keyof Sample): boolean => samples.every((sample) => sample[field] === samples[0]![field])
  const bytes = samples.reduce((sum, { size }) => sum + size, 0)
  const duration = samples.reduce((sum, sample) => sum + sample.duration, 0)
  const each = [
    ...(same('duration') ? [] : (['duration'] as const)),
    'size' as const,
    ...(same('flags') ? [] : (['flags'] as const)),
    ...(samples.every(({ offset }) => offset === 0) ? [] : (['offset'] as const)),
  ]
  const bits = { duration: 0x100, size: 0x200, flags: 0x400, offset: 0x800 }
  const runFlags = each.reduce((sum, field) => sum | bits[field], 0x1)
  const headFlags = 0x20000 | (same('duration') ? 0x8 : 0) | (same('flags') ? 0x20 : 0)
  const head = full('tfhd', 0, headFlags, [
    trackId,
    ...(same('duration') ? [samples[0]!.duration] : []),
    ...(same('flags') ? [samples[0]!.flags] : []),
  ])
  const clock =
    time === 'tfdt'
      ? full('tfdt', 1, 0, long(decodeTime))
      : box('uuid', Uint8Array.from(TFXD), words([0x01000000, ...long(decodeTime), ...long(duration)]))
  const moof = (dataOffset: number): Uint8Array => {
    const run = full('trun', 1, runFlags, [
      samples.length,
      dataOffset,
      ...samples.flatMap((sample) => each.map((field) => sample[field])),
    ])
    // [MS-SSTR] 2.2.4.1 requires the fragment's time after its samples.
    const traf = time === 'tfdt' ? box('traf', head, clock, run) : box('traf', head, run, clock)
    return box('moof', full('mfhd', 0, 0, [sequence]), traf)
  }
  const size = moof(0).length
  return concatBytes([moof(size + 8), words([bytes + 8]), text('mdat')])
}

function box(name: string, ...parts: Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, part) => sum + part.length, 8)
  return concatBytes([words([size]), text(name), ...parts])
}

function full(name: string, version: number, flags: number, fieldsOf: readonly number[]): Uint8Array {
  return box(name, words([version * 2 ** 24 + flags, ...fieldsOf]))
}

function words(values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4)
  const view = viewOf(bytes)
  // A negative number is written as its two's complement.
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value)
  return bytes
}

function long(value: number): [number, number] {
  return [Math.floor(value / 2 ** 32), value % 2 ** 32]
}

function text(name: string): Uint8Array {
  return Uint8Array.from(name, (letter) => letter.charCodeAt(0))
}
