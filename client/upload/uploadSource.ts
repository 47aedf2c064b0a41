// In charge of: what can be uploaded: something with a size whose bytes can be read from anywhere in it, and more than once.
// Not in charge of: files of this machine (fileSource.ts), sending it (uploadFile.ts).

/** Where an upload's bytes come from. */
export interface UploadSource {
  name: string
  size: number
  /** MIME type; '' where it is not known. */
  type: string
  /** Milliseconds since 1970; null where it is not known. */
  modified: number | null
  /** The bytes from `start` up to, not including, `end`: for a request's body. */
  body: (start: number, end: number) => Blob | ReadableStream<Uint8Array>
  /** The same, in memory. */
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
