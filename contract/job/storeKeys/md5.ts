// In charge of: MD5 (RFC 1321), because Oracle's key fingerprints use it.
// Not in charge of: anything that must resist an attacker.

const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const
/** RFC 1321 §3.4: "the integer part of 4294967296 times abs(sin(i))". */
const TABLE = Uint32Array.from({ length: 64 }, (_, i) => Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1))))

/** @returns 16 bytes */
export function md5(message: Uint8Array): Uint8Array {
  // §3.1 and §3.2: a 1 bit, zeros, and the length in bits, up to a multiple of 64 bytes.
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64)
  padded.set(message)
  padded[message.length] = 0x80
  const words = new DataView(padded.buffer)
  words.setUint32(padded.length - 8, message.length * 8, true)
  words.setUint32(padded.length - 4, Math.floor(message.length / 2 ** 29), true)
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476] as [number, number, number, number]
  for (let block = 0; block < padded.length; block += 64) {
    let [a, b, c, d] = state
    for (let step = 0; step < 64; step++) {
      const round = step >> 4
      const { mixed, word } = mix(round, step, b, c, d)
      const sum = (a + mixed + TABLE[step]! + words.getUint32(block + word * 4, true)) | 0
      const shift = SHIFTS[round]![step & 3]!
      ;[a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0]
    }
    state[0] = (state[0] + a) | 0
    state[1] = (state[1] + b) | 0
    state[2] = (state[2] + c) | 0
    state[3] = (state[3] + d) | 0
  }
  const digest = new DataView(new ArrayBuffer(16))
  for (const [index, value] of state.entries()) digest.setInt32(index * 4, value, true)
  return new Uint8Array(digest.buffer)
}

/** §3.4: the functions F, G, H, I, and the index of the block's word that each step uses. */
function mix(round: number, step: number, b: number, c: number, d: number): { mixed: number; word: number } {
  if (round === 0) return { mixed: (b & c) | (~b & d), word: step }
  if (round === 1) return { mixed: (b & d) | (c & ~d), word: (5 * step + 1) & 15 }
  if (round === 2) return { mixed: b ^ c ^ d, word: (3 * step + 5) & 15 }
  return { mixed: c ^ (b | ~d), word: (7 * step) & 15 }
}
