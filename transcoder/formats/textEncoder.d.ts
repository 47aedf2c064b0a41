// In charge of: declaring the only runtime class that the formats use. Node, workerd and browsers have it (WHATWG
// Encoding, 8.2).

declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
}
