// In charge of: reading one stretch of a transport stream for its cues: exactly the packets that belong to it.
// Not in charge of: what is kept of them (formats/scte35/cueTrace.ts), one reading of the whole (findCues.ts).
import { PacketReader } from '../formats/mpegts/packet.ts'
import { CueReader, type CueTables } from '../formats/scte35/cueReader.ts'
import { CueTracer, type CueTrace, type PacketPlace, type TracedProgram } from '../formats/scte35/cueTrace.ts'
import { ExpectedBytes } from '../source/expectedBytes.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import type { ByteRange } from '../source/rangeResponse.ts'
import { declaredCues } from './findCues.ts'

/** Before the stretch: packets are found, and the tables that may lie across its beginning. */
const RUN_IN_BYTES = 256 * 1024
/** Behind it, for the next packet. */
const RUN_OUT_BYTES = 4096

/** `first`, `last`: the bytes in which its packets begin. null = the time stamps jump, or something else that only one reading gets right. */
export async function traceCues(
  loopback: Pick<LoopbackServer, 'open' | 'read' | 'expect'>,
  about: TracedProgram,
  { first, last }: ByteRange,
  signal: AbortSignal,
  onProgress: (share: number) => void = () => undefined,
): Promise<CueTrace | null> {
  const { size } = await loopback.open()
  if (size === null) return null
  const known = first === 0 ? undefined : await declaredCues(loopback, about, signal)
  if (known === null) return null
  const read: ByteRange = {
    first: Math.max(0, first - RUN_IN_BYTES),
    last: Math.min(size - 1, last + RUN_OUT_BYTES),
  }
  loopback.expect(new ExpectedBytes([read]))
  const tracer = new CueTracer()
  const cues = new CueReader(about, tracer.take, known)
  const packets = new PacketReader()
  let [begin, next]: [PacketPlace | null, PacketPlace | null] = [null, null]
  let before: CueTables | null = null
  const take = (packet: Uint8Array): void => {
    const place = { offset: read.first + packets.position, stride: packets.stride }
    if (place.offset > last) next ??= place
    else if (place.offset < first) cues.pushTables(packet)
    else {
      begin ??= place
      before ??= cues.known
      cues.push(packet)
    }
  }
  let done = 0
  for await (const chunk of loopback.read(signal, read)) {
    for (const packet of packets.push(chunk)) take(packet)
    done += chunk.length
    onProgress(Math.min(1, done / (read.last - read.first + 1)))
    if (tracer.isUseless) return null
  }
  if (read.last === size - 1) for (const packet of packets.end()) take(packet)
  else if (next === null) return null
  const events = tracer.end()
  return events === null
    ? null
    : { first: begin ?? next, next, before: before ?? cues.known, after: cues.known, events }
}
