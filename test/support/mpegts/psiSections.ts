// In charge of: the PSI sections of one PID, read from the packets. It shares no code with the writer.
// Not in charge of: their content.

const PACKET = 188

/** Each section once, for tables whose sections start at a packet start. */
export function readSections(bytes: Buffer, pid: number): Buffer[] {
  const found = new Map<string, Buffer>()
  let parts: Buffer[] = []
  const close = (): void => {
    const whole = Buffer.concat(parts)
    if (whole.length < 3) return
    const section = whole.subarray(0, 3 + (whole.readUInt16BE(1) & 0xfff))
    found.set(section.toString('hex'), section)
  }
  for (let at = 0; at + PACKET <= bytes.length; at += PACKET) {
    if ((bytes.readUInt16BE(at + 1) & 0x1fff) !== pid || (bytes[at + 3]! & 0x10) === 0) continue
    const begins = (bytes[at + 1]! & 0x40) !== 0
    if (begins) {
      close()
      parts = []
    }
    parts.push(bytes.subarray(at + (begins ? 5 : 4), at + PACKET))
  }
  close()
  return [...found.values()]
}
