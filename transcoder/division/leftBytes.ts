// In charge of: bytes of the source as one object, which an attempt leaves for the parts of the job.
// Not in charge of: storing it (workObjects.ts).
import type { SourceRun } from '../source/readCache.ts'

/** A count, then the place and the length of each run, then their bytes. */
const COUNT_BYTES = 4
const ENTRY_BYTES = 12

export function encodeLeftBytes(runs: readonly SourceRun[]): Uint8Array {
  const head = Buffer.alloc(COUNT_BYTES + runs.length * ENTRY_BYTES)
  head.writeUInt32BE(runs.length)
  for (const [index, { first, bytes }] of runs.entries()) {
    const at = COUNT_BYTES + index * ENTRY_BYTES
    head.writeBigUInt64BE(BigInt(first), at)
    head.writeUInt32BE(bytes.length, at + 8)
  }
  return Buffer.concat([head, ...runs.map(({ bytes }) => bytes)])
}

/** null = it is no such object. */
export function decodeLeftBytes(object: Buffer): SourceRun[] | null {
  const count = object.length < COUNT_BYTES ? 0 : object.readUInt32BE()
  let at = COUNT_BYTES + count * ENTRY_BYTES
  if (object.length < at) return null
  const runs: SourceRun[] = []
  for (let index = 0; index < count; index += 1) {
    const entry = COUNT_BYTES + index * ENTRY_BYTES
    const length = object.readUInt32BE(entry + 8)
    runs.push({ first: Number(object.readBigUInt64BE(entry)), bytes: object.subarray(at, at + length) })
    at += length
  }
  const rises = runs.every(({ first }, index) => index === 0 || first >= endOf(runs[index - 1]!))
  return at === object.length && rises ? runs : null
}

function endOf({ first, bytes }: SourceRun): number {
  return first + bytes.length
}
