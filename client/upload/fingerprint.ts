// In charge of: recognising a file that was uploaded before, without reading all of a large one.
// Not in charge of: finding the upload (findStoredUpload.ts).
import type { UploadSource } from './uploadSource.ts'

/** Files up to this size are read completely. Larger ones are sampled, and their modification time counts too. */
const WHOLE_BYTES = 16 * 1024 * 1024
const SAMPLES = 16
const SAMPLE_BYTES = 256 * 1024

/** null if it cannot be computed: browsers have SHA-256 only on https and localhost. */
export async function fileFingerprint(source: UploadSource): Promise<string | null> {
  const { subtle } = crypto as Partial<typeof crypto>
  if (subtle === undefined) return null
  const parts = await Promise.all(sampleRanges(source.size).map(([start, end]) => source.bytes(start, end)))
  const facts = source.size > WHOLE_BYTES ? `${source.size} ${source.modified ?? ''}` : String(source.size)
  const digest = await subtle.digest('SHA-256', await new Blob([facts, '\0', ...parts]).arrayBuffer())
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `sha256-${source.size > WHOLE_BYTES ? 'sampled' : 'whole'}-${hex}`
}

function sampleRanges(size: number): [start: number, end: number][] {
  if (size <= WHOLE_BYTES) return [[0, size]]
  const step = (size - SAMPLE_BYTES) / (SAMPLES - 1)
  return Array.from({ length: SAMPLES }, (_, index) => {
    const start = Math.floor(index * step)
    return [start, start + SAMPLE_BYTES]
  })
}
