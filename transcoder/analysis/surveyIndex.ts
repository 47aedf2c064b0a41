// In charge of: the survey of an mp4 or QuickTime source from its index (moov) and the beginnings of its key frames, so that
// the source need not be read twice.
// Not in charge of: files that say more than the sample tables, and other containers (surveyVideo.ts reads their packets).
import { FormatError } from '../formats/formatError.ts'
import { boxType, viewOf } from '../formats/mp4/boxReader.ts'
import { readSampleList, type SampleList } from '../formats/mp4/sampleList.ts'
import { recoveryFrames } from '../formats/recoveryPoint.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import type { VideoSurvey } from '../plan/model/videoSurvey.ts'
import { MAX_FRAMES, MAX_PARAMETER_SETS, NAL_UNIT_TYPES } from './nalUnitTypes.ts'

type Source = Pick<LoopbackServer, 'open' | 'readRange'>

/** Top-level boxes of the file; no muxer writes more. */
const MAX_BOXES = 100
/** The index of a day at 50 frames per second with audio. */
const MAX_INDEX_BYTES = 96 * 1024 * 1024
/** Enough for the parameter sets and messages before a picture. Each further unit is read by itself. */
const HEAD_BYTES = 4096
const MAX_UNITS = 1000
/** Bytes that are read of one unit of messages (SEI). */
const MAX_SEI_BYTES = 1024
/** With more key frames and fewer bytes between them, reading the whole file takes fewer requests and not much longer. */
const MANY_KEY_FRAMES = 100
const LEAST_BYTES_PER_KEY_FRAME = 128 * 1024
/** At the same time. */
const MAX_REQUESTS = 8

/** `startSeconds`: where the outputs begin. null = the packets have to be read. Throws if the source cannot be read. */
export async function surveyIndex(
  source: Source,
  startSeconds: number,
  signal: AbortSignal,
): Promise<VideoSurvey | null> {
  const { size, ranges } = await source.open()
  if (!ranges || size === null) return null
  try {
    const samples = await readIndexedSamples(source, size, signal)
    if (samples === null || !isWorthwhile(samples, size)) return null
    return await surveyOf(source, samples, startSeconds, signal)
  } catch (error) {
    // A RangeError of a table that is longer than its box. ffmpeg shows what is left of such a file.
    if (error instanceof FormatError || error instanceof RangeError) return null
    throw error
  }
}

/** Throws FormatError or RangeError for a damaged index. */
export async function readIndexedSamples(
  source: Pick<LoopbackServer, 'readRange'>,
  size: number,
  signal: AbortSignal,
): Promise<SampleList | null> {
  const index = await readIndex(source, size, signal)
  return index === null ? null : readSampleList(index, MAX_FRAMES)
}

/** The body of the moov; null = there is none, or the file says more than it. */
export async function readIndex(
  source: Pick<LoopbackServer, 'readRange'>,
  size: number,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  let at = 0
  for (let box = 0; box < MAX_BOXES && at + 8 <= size; box++) {
    const header = await source.readRange(at, 16, signal)
    if (header.length < 8) return null
    const view = viewOf(header)
    const name = boxType(header, 4)
    const short = view.getUint32(0)
    const headerBytes = short === 1 ? 16 : 8
    // 0 = to the end of the file.
    const bytes = short === 0 ? size - at : short === 1 ? Number(view.getBigUint64(8)) : short
    // The end of a file that was cut off is missing in the packets, but not in the index.
    if (bytes < headerBytes || at + bytes > size || name === 'moof') return null
    if (name === 'moov') {
      if (bytes > MAX_INDEX_BYTES) return null
      return source.readRange(at + headerBytes, bytes - headerBytes, signal)
    }
    at += bytes
  }
  return null
}

function isWorthwhile({ keyFrames, positions, sizes }: SampleList, size: number): boolean {
  const isInside = positions.every((position, sample) => position + sizes[sample]! <= size)
  const { length } = keyFrames
  return isInside && (length <= MANY_KEY_FRAMES || size / length >= LEAST_BYTES_PER_KEY_FRAME)
}

async function surveyOf(
  source: Source,
  samples: SampleList,
  startSeconds: number,
  signal: AbortSignal,
): Promise<VideoSurvey | null> {
  const { keyFrames, shown, durations, sizes } = samples
  const closedKeyFrames = new Set<number>()
  const parameterSets = new Set<string>()
  const waiting = keyFrames.values()
  let isUnclear = false
  const readSome = async (): Promise<void> => {
    for (const frame of waiting) {
      const found = await readUnits(source, samples, frame, signal)
      if (found === null) isUnclear = true
      if (isUnclear) return
      if (found?.isIdr === true) closedKeyFrames.add(frame)
      const sets = found?.parameterSets ?? ''
      if (sets !== '' && parameterSets.size < MAX_PARAMETER_SETS) parameterSets.add(sets)
    }
  }
  await Promise.all(Array.from({ length: MAX_REQUESTS }, readSome))
  if (isUnclear) return null
  const tick = 1 / samples.timescale
  const end = shown.reduce((latest, time, frame) => Math.max(latest, time + durations[frame]!), -Infinity)
  return {
    times: shown.map((time) => time * tick - startSeconds),
    sizes,
    keyFrames,
    closedKeyFrames,
    endSeconds: end * tick - startSeconds,
    parameterSets: parameterSets.size,
    backwardsAt: null,
  }
}

/**
 * A decoder that begins with this key frame shows exact frames after this many. 0 = at once: an IDR picture; null = not
 * known. With open GOPs it is null, too: frames before the key frame are shown damaged.
 */
export async function framesUntilExact(
  source: Source,
  samples: SampleList,
  frame: number,
  signal: AbortSignal,
): Promise<number | null> {
  const found = await readUnits(source, samples, frame, signal)
  if (found === null) return null
  return found.isIdr ? 0 : found.recovery === 0 ? null : found.recovery
}

/** The NAL units of a sample up to its first slice. null = they are damaged. */
async function readUnits(
  source: Source,
  { codec, nalLengthBytes, positions, sizes }: SampleList,
  frame: number,
  signal: AbortSignal,
): Promise<{ isIdr: boolean; parameterSets: string; recovery: number | null } | null> {
  const types = NAL_UNIT_TYPES[codec]
  const [position, size] = [positions[frame]!, sizes[frame]!]
  let [from, bytes] = [0, await source.readRange(position, Math.min(size, HEAD_BYTES), signal)]
  /** Bytes `at` to `at + count` of the sample. */
  const at = async (first: number, count: number): Promise<Uint8Array> => {
    if (first + count > from + bytes.length) {
      from = first
      bytes = await source.readRange(position + first, Math.min(size - first, Math.max(count, HEAD_BYTES)), signal)
    }
    return bytes.subarray(first - from, first - from + count)
  }
  let parameterSets = ''
  let recovery: number | null = null
  for (let [next, unit] = [0, 0]; next + nalLengthBytes < size && unit < MAX_UNITS; unit++) {
    const header = await at(next, nalLengthBytes + 1)
    if (header.length <= nalLengthBytes) return null
    const length = header.subarray(0, nalLengthBytes).reduce((value, byte) => value * 256 + byte, 0)
    if (length === 0 || next + nalLengthBytes + length > size) return null
    const type = types.typeOf(header[nalLengthBytes]!)
    if (types.isSlice(type)) return { isIdr: types.idr.includes(type), parameterSets, recovery }
    if (type === types.parameters)
      parameterSets += `${Buffer.from(await at(next + nalLengthBytes, length)).toString('base64')} `
    // Behind the header of one byte that units of H.264 have.
    if (type === types.recovery)
      recovery ??= recoveryFrames(await at(next + nalLengthBytes + 1, Math.min(length - 1, MAX_SEI_BYTES)))
    next += nalLengthBytes + length
  }
  return null
}
