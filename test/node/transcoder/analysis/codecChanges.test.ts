// Where a transport stream changes its codecs: to the packet, wherever that is, with little reading.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { findCodecChanges } from '../../../../transcoder/analysis/codecChanges.ts'
import { PACKET_BYTES, PAT_PID } from '../../../../transcoder/formats/mpegts/packet.ts'
import { writePmt } from '../../../../transcoder/formats/mpegts/programTables.ts'
import { toPackets } from '../../../../transcoder/formats/mpegts/section.ts'
import { pat } from '../../../support/mpegts/packetStream.ts'

const TABLE = 0x100
/** Packets from one map to the next. */
const EVERY = 500
const TYPES = { mpeg2video: 0x02, h264: 0x1b, hevc: 0x24 }
type Codec = keyof typeof TYPES

/** `codecs`: what follows after how many packets. The counters of the tables go on, or begin again. */
function stream(codecs: readonly (readonly [Codec, number])[]): Buffer {
  const total = codecs.reduce((sum, [, packets]) => sum + packets, 0)
  const bytes = Buffer.alloc(total * PACKET_BYTES, 0xff)
  for (let at = 0; at < total; at += 1) bytes.set([0x47, 0x1f, 0xff, 0x10], at * PACKET_BYTES)
  let first = 0
  for (const [codec, packets] of codecs) {
    const streams = [{ type: TYPES[codec], pid: 0x200, descriptors: new Uint8Array() }]
    const map = writePmt({ program: 1, version: 0, clockPid: 0x200, descriptors: new Uint8Array(), streams })
    for (let at = 0; at + 2 <= packets; at += EVERY) {
      bytes.set(toPackets(pat([[1, TABLE]]), PAT_PID, (at / EVERY) & 15)[0]!, (first + at) * PACKET_BYTES)
      bytes.set(toPackets(map, TABLE, (at / EVERY) & 15)[0]!, (first + at + 1) * PACKET_BYTES)
    }
    first += packets
  }
  return bytes
}

test('is found to the packet', async () => {
  const part = fc.integer({ min: 5000, max: 20_000 })
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(['mpeg2video', 'h264', 'hevc'] as const),
      part,
      part,
      part,
      async (codecs, ...lengths) => {
        const parts = codecs.map((codec, index) => [codec, lengths[index]!] as const)
        const bytes = stream(parts.length === 0 ? [['h264', 9000]] : parts)
        let read = 0
        const found = await findCodecChanges(async (first, count) => {
          const part = bytes.subarray(first, first + count)
          read += part.length
          return part
        }, bytes.length)
        const places = parts
          .slice(1)
          .map((_part, index) => parts.slice(0, index + 1).reduce((sum, [, packets]) => sum + packets, 0))
        expect(found.map(({ from, until }) => [from, until])).toEqual(
          places.map((place) => [place * PACKET_BYTES, (place + 1) * PACKET_BYTES]),
        )
        expect(read).toBeLessThanOrEqual(9 * 256 * 1024 + found.length * 20 * 256 * 1024)
      },
    ),
    { numRuns: 10 },
  )
})
