// In charge of: a fragmented mp4 with a part of the frames of another one, as the encoder of a chunk writes it: its times
// begin at 0, and its fragments are numbered from 1. Reading the numbers of fragments.
// Not in charge of: expectations.

interface Box {
  type: string
  bytes: Buffer
}

function boxesOf(bytes: Buffer): Box[] {
  const boxes: Box[] = []
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32BE(at)
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), bytes: bytes.subarray(at, at + size) })
    at += size
  }
  return boxes
}

/** The position of the first field after the name of a box inside a fragment. */
function fieldOf(moof: Buffer, box: string): number {
  const at = moof.indexOf(box, 0, 'latin1')
  if (at < 0) throw new Error(`no ${box}`)
  return at + 4
}

/** Frames `from` up to `to`; a fragment must begin with each. */
export function chunkOfStream(stream: Buffer, from: number, to: number): Buffer {
  const all = boxesOf(stream)
  const out = all.filter(({ type }) => type === 'ftyp' || type === 'moov').map(({ bytes }) => bytes)
  let frames = 0
  let sequence = 0
  let base: bigint | null = null
  for (const [index, { type, bytes }] of all.entries()) {
    if (type !== 'moof') continue
    const moof = Buffer.from(bytes)
    const first = frames
    frames += moof.readUInt32BE(fieldOf(moof, 'trun') + 4)
    if (first < from || first >= to) continue
    if (frames > to) throw new Error(`a fragment has the frames ${first} to ${frames}`)
    const time = fieldOf(moof, 'tfdt') + 4
    base ??= moof.readBigUInt64BE(time)
    moof.writeBigUInt64BE(moof.readBigUInt64BE(time) - base, time)
    sequence += 1
    moof.writeUInt32BE(sequence, fieldOf(moof, 'mfhd') + 4)
    out.push(moof, all[index + 1]!.bytes)
  }
  return Buffer.concat(out)
}

/** The sequence numbers of the fragments of a file. */
export function sequencesOf(file: Buffer): number[] {
  return boxesOf(file).flatMap(({ type, bytes }) =>
    type === 'moof' ? [bytes.readUInt32BE(fieldOf(bytes, 'mfhd') + 4)] : [],
  )
}
