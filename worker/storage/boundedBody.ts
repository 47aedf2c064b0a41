// In charge of: reading the whole body of a response from an untrusted server, up to a limit. The declared length is not
// trusted.

/** null for a body above the limit. */
export async function readBoundedBytes(response: Response, limit: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const blocks: Uint8Array[] = []
  let size = 0
  for await (const block of response.body ?? []) {
    size += block.byteLength
    if (size > limit) return null
    blocks.push(block)
  }
  return new Uint8Array(await new Blob(blocks).arrayBuffer())
}

/** null for a body above the limit. */
export async function readBoundedText(response: Response, limit: number): Promise<string | null> {
  const bytes = await readBoundedBytes(response, limit)
  return bytes && new TextDecoder().decode(bytes)
}

/** The members of a JSON object; none if the body is anything else, cut off, or above the limit. */
export async function readBoundedJson(response: Response, limit: number): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse((await readBoundedText(response, limit)) ?? '')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
