// In charge of: a decoder's input buffer by the model that the stream itself signals (ISO/IEC 14496-10 and 23008-2 annex
// C, 13818-2 annex C): filled at the signalled rate, each access unit removed at once at its decoding time. Parameters and
// sizes come from ffmpeg's trace_headers and ffprobe.
// Not in charge of: transport streams' own buffers (test/support/mpegts/tstdModel.ts).
import { runProgram } from '../runProgram.ts'
import { ffprobe, testFfmpeg } from './media.ts'

export interface BufferModel {
  /** Bits per second. */
  rate: number
  /** Bits. */
  size: number
  framesPerSecond: number
  /** Bits in the buffer when the first access unit is removed. */
  initial: number
}

export interface BufferRun {
  /** Access units that are removed before their last bit has arrived, by number. */
  late: number[]
  /** Bits that found the buffer full: at a constant rate they have nowhere to wait. */
  overflow: number
  /** Bits before each access unit is removed. */
  fullness: number[]
}

/** `bytes` of each access unit in decoding order. */
export function runDecoderBuffer(bytes: readonly number[], model: BufferModel): BufferRun {
  const run: BufferRun = { late: [], overflow: 0, fullness: [] }
  let bits = model.initial
  for (const [index, each] of bytes.entries()) {
    run.fullness.push(bits)
    if (each * 8 > bits) run.late.push(index)
    bits += model.rate / model.framesPerSecond - each * 8
    run.overflow = Math.max(run.overflow, bits - model.size)
    bits = Math.min(bits, model.size)
  }
  return run
}

export interface SignalledBuffer extends BufferModel {
  bytes: number[]
  /** Bits that the stream says are in the buffer before an access unit is removed; null = it says nothing there. */
  signalled: (number | null)[]
}

const TICKS = 90_000
const LINE = /\] \d+\s+(\w+)(?:\[0\])?\s+[01]+ = (\d+)$/

/** The model that the video of a file signals. Throws where it signals none. */
export async function readSignalledBuffer(file: string): Promise<SignalledBuffer> {
  const { ffmpeg } = await testFfmpeg()
  const entries = 'packet=size:stream=avg_frame_rate,codec_name'
  const [listed, traced] = await Promise.all([
    ffprobe(['-select_streams', 'v:0', '-show_entries', entries], file),
    runProgram(ffmpeg, `-nostdin -i ${file} -map 0:v:0 -c copy -bsf:v trace_headers -f null -`.split(' ')),
  ])
  const { packets, streams } = listed as {
    packets: { size: string }[]
    streams: { avg_frame_rate: string; codec_name: string }[]
  }
  const [num, den] = streams[0]!.avg_frame_rate.split('/').map(Number) as [number, number]
  const found = new Map<string, number>()
  const delays: (number | null)[] = []
  let initial: number | null = null
  for (const line of traced.stderr.split('\n')) {
    // A message about the buffer comes before the one about the access unit's own time.
    if (line.endsWith('] Picture Timing')) {
      delays.push(initial)
      initial = null
    }
    const [, name = '', value] = LINE.exec(line) ?? []
    if (!found.has(name)) found.set(name, Number(value))
    if (/^(nal_)?initial_cpb_removal_delay$/.test(name)) initial = Number(value)
    if (name === 'vbv_delay') delays.push(Number(value))
  }
  const of = (name: string): number => {
    const value = found.get(name)
    if (value === undefined) throw new Error(`${file} does not signal ${name}`)
    return value
  }
  const isMpeg2 = streams[0]!.codec_name === 'mpeg2video'
  const rate = isMpeg2
    ? of('bit_rate_value') * 400
    : (of('bit_rate_value_minus1') + 1) * 2 ** (6 + of('bit_rate_scale'))
  const size = isMpeg2
    ? of('vbv_buffer_size_value') * 16_384
    : (of('cpb_size_value_minus1') + 1) * 2 ** (4 + of('cpb_size_scale'))
  const signalled = delays.map((delay) => (delay === null ? null : (delay * rate) / TICKS))
  const bytes = packets.map((packet) => Number(packet.size))
  return { rate, size, framesPerSecond: num / den, initial: signalled[0] ?? 0, bytes, signalled }
}
