// In charge of: the description of a track's encryption that all containers share, and random access to a source's
// bytes.
// Not in charge of: single containers (mp4Protection.ts, matroskaProtection.ts, encryptionCheck.ts), the
// result for a job (encryptionCheck.ts).

/** Tracks are in the order of the file, as in ffmpeg. */
export interface TrackProtection {
  kind: 'video' | 'audio' | 'other'
  /** The name of the protection, for people; null = not encrypted. */
  protection: string | null
  /** The PID in a transport stream; null elsewhere. */
  pid: number | null
}

/** Bytes from `first` on: fewer at the end of the source, or if they cannot be read. */
export type ReadRange = (first: number, bytes: number) => Promise<Uint8Array>

const BLOCK_BYTES = 256 * 1024

/** The same function with a cache of the last block: headers are close to each other. */
export function bufferedReads(read: ReadRange): ReadRange {
  let begin = 0
  let block: Uint8Array = new Uint8Array()
  return async (first, bytes) => {
    if (first < begin || first + bytes > begin + block.length) {
      block = await read(first, Math.max(bytes, BLOCK_BYTES))
      begin = first
    }
    return block.subarray(first - begin, first - begin + bytes)
  }
}
