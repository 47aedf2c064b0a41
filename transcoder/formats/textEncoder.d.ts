// In charge of: the one thing of the runtime that formats use; Node, workerd and browsers all have it (WHATWG Encoding, 8.2).

declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>
}
