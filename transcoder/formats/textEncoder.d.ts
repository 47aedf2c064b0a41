// In charge of: declaring the only runtime classes that the formats use. Node, workerd and browsers have them (WHATWG
// Encoding, 8.2).

declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean })
  decode(bytes: Uint8Array): string
}
