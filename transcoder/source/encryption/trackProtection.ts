// In charge of: what every container says of its tracks' encryption, and random access to a source's bytes.
// Not in charge of: single containers (mp4Protection.ts, matroskaProtection.ts, asfProtection.ts, tsScrambling.ts), what follows for a job (transcoder/source/encryption/encryptionCheck.ts).

/** In the order of the file, which is ffmpeg's. */
export interface TrackProtection {
  kind: 'video' | 'audio' | 'other'
  /** How it is protected, for people; null = in the clear. */
  protection: string | null
  /** The PID in a transport stream; null elsewhere. */
  pid: number | null
}

/** Bytes from `first` on: fewer where the source ends, or cannot be read there. */
export type ReadRange = (first: number, bytes: number) => Promise<Uint8Array>

const BLOCK_BYTES = 256 * 1024

/** The same with the last block kept: headers lie next to each other. */
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
