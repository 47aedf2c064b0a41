// In charge of: a Matroska file of one track of AC-3 or E-AC-3, whose frames have times of their own.
// Not in charge of: the frames (ac3.ts), where they come from (dataBursts.ts).
import { concatBytes } from './concatBytes.ts'

/** The header of the file. `sampleRate` in Hz. */
export function matroskaHeader(codec: 'ac3' | 'eac3', sampleRate: number): Uint8Array {
  const rate = new Uint8Array(8)
  new DataView(rate.buffer).setFloat64(0, sampleRate)
  return concatBytes([
    element(0x1a45dfa3, element(0x4282, text('matroska')), element(0x4287, integer(4)), element(0x4285, integer(2))),
    // A segment up to the end of the file.
    Uint8Array.of(0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
    // Times in microseconds.
    element(0x1549a966, element(0x2ad7b1, integer(1000))),
    element(
      0x1654ae6b,
      element(
        0xae,
        element(0xd7, integer(1)),
        element(0x73c5, integer(1)),
        element(0x83, integer(2)),
        element(0x86, text(codec === 'ac3' ? 'A_AC3' : 'A_EAC3')),
        element(0xe1, element(0xb5, rate)),
      ),
    ),
  ])
}

/** What follows the header: frames that are heard from `seconds` on, which is not negative. */
export function matroskaFrames(seconds: number, frames: Uint8Array): Uint8Array {
  // Track 1, at the time of its cluster, a key frame.
  const block = element(0xa3, Uint8Array.of(0x81, 0, 0, 0x80), frames)
  return element(0x1f43b675, element(0xe7, integer(Math.round(seconds * 1e6))), block)
}

function element(id: number, ...content: Uint8Array[]): Uint8Array {
  const bytes = concatBytes(content)
  const head = new Uint8Array(8)
  const view = new DataView(head.buffer)
  view.setUint32(0, id)
  view.setUint32(4, 0x10000000 | bytes.length)
  return concatBytes([head.subarray(head.findIndex((byte) => byte !== 0)), bytes])
}

function integer(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return bytes
}

function text(value: string): Uint8Array {
  return Uint8Array.from(value, (letter) => letter.charCodeAt(0))
}
