// In charge of: the interface of an upload's source: its size, and its bytes from any position, any number of times.
// Not in charge of: local files (../nodeClient.ts), sending (uploadFile.ts).

/** The source of an upload. */
export interface UploadSource {
  name: string
  size: number
  /** MIME type; '' if unknown. */
  type: string
  /** Milliseconds since 1970; null if unknown. */
  modified: number | null
  /** The bytes from `start` to `end` (exclusive), as the body of a request. */
  body: (start: number, end: number) => Blob | ReadableStream<Uint8Array>
  /** The same bytes, in memory. */
  bytes: (start: number, end: number) => Promise<Uint8Array>
}

/** A Blob, or the File of an `<input type="file">`. */
export function blobSource(blob: Blob & { name?: string; lastModified?: number }, name?: string): UploadSource {
  return {
    name: name ?? blob.name ?? 'upload',
    size: blob.size,
    type: blob.type,
    modified: blob.lastModified ?? null,
    body: (start, end) => blob.slice(start, end),
    bytes: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
  }
}

export function isBlob(value: unknown): value is Blob {
  return typeof Blob === 'function' && value instanceof Blob
}
