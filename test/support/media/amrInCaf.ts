// In charge of: AMR in a Core Audio file, which no encoder of the tested versions of ffmpeg makes.

const SECONDS_SAMPLES = 160
/** 4.75 kb/s, all bits zero. */
const FRAME = [4, ...Array.from({ length: 12 }, () => 0)]

/** `packets` of `frames` each, of 20 ms. ffmpeg reads as many packets at once as it likes, so one frame stands alone. */
export function amrInCaf(frames: number, packets: number): Buffer {
  const bytes = frames * FRAME.length
  const head = Buffer.alloc(68)
  head.write('caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20', 'latin1')
  head.writeDoubleBE(8000, 20)
  head.write('samr', 28)
  for (const [index, value] of [0, bytes, frames * SECONDS_SAMPLES, 1].entries())
    head.writeUInt32BE(value, 32 + 4 * index)
  head.write('data', 52)
  head.writeBigInt64BE(BigInt(4 + packets * bytes), 56)
  return Buffer.concat([head, ...Array.from({ length: frames * packets }, () => Buffer.from(FRAME))])
}
