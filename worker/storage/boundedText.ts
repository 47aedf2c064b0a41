// In charge of: reading a response from an untrusted server as text, up to a limit.

/** Null for a body above the limit. */
export async function readBoundedText(response: Response, limit: number): Promise<string | null> {
  if (!response.body) return ''
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > limit) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
