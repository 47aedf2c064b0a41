// In charge of: which caption channels (CEA-608) and services (CEA-708) the caption bytes carry.
// Not in charge of: finding those bytes (userData.ts), decoding their text (captionDecoder.ts).

/**
 * `CC1` to `CC4`, `T1` to `T4` (text mode) and `SERVICE1` to `SERVICE63`, sorted. Each frame is read separately,
 * because frames come in coded order. This works because each command and service header names its channel.
 */
export function captionChannels(frames: readonly Uint8Array[]): string[] {
  const found = new Set<string>()
  for (const ccData of frames) {
    const packets: number[][] = []
    for (let at = 0; at + 3 <= ccData.length; at += 3) {
      const [flags, first, second] = [ccData[at]!, ccData[at + 1]!, ccData[at + 2]!]
      if ((flags & 4) === 0) continue
      const type = flags & 3
      if (type < 2) addCommand(found, type, first & 0x7f, second & 0x7f)
      else if (type === 3) packets.push([first, second])
      else packets.at(-1)?.push(first, second)
    }
    for (const packet of packets) addServices(found, packet)
  }
  return [...found].toSorted((a, b) => rank(a) - rank(b))
}

function rank(name: string): number {
  return (name.startsWith('CC') ? 0 : name.startsWith('T') ? 100 : 200) + Number(name.replace(/\D+/, ''))
}

/** ANSI/CTA-608-E table 52: commands that begin pop-on, roll-up and paint-on captions, and the two of text mode. */
const CAPTION_COMMANDS = new Set([0x20, 0x25, 0x26, 0x27, 0x29])
const TEXT_COMMANDS = new Set([0x2a, 0x2b])

/**
 * Field 1 carries channels 1 and 2, field 2 carries 3 and 4. Bit 0x08 of a command's first byte selects one of the two.
 */
function addCommand(found: Set<string>, field: number, first: number, second: number): void {
  // 0x14 in field 1 and 0x15 in field 2 are the same command.
  if ((first & 0x76) !== 0x14) return
  const channel = field * 2 + ((first & 0x08) === 0 ? 1 : 2)
  if (CAPTION_COMMANDS.has(second)) found.add(`CC${channel}`)
  if (TEXT_COMMANDS.has(second)) found.add(`T${channel}`)
}

/** ANSI/CTA-708-E 5 and 6: a packet header, then blocks of one service each. Reads only the part inside this frame. */
function addServices(found: Set<string>, packet: readonly number[]): void {
  const coded = packet[0]! & 0x3f
  const end = Math.min(packet.length, coded === 0 ? 128 : coded * 2)
  let at = 1
  while (at < end) {
    const header = packet[at]!
    const size = header & 0x1f
    const short = header >> 5
    const extended = short === 7 && size > 0
    const service = extended ? (packet[at + 1] ?? 0) & 0x3f : short
    // Service 0 is padding and ends the packet.
    if (service === 0) return
    if (size > 0) found.add(`SERVICE${service}`)
    at += 1 + (extended ? 1 : 0) + size
  }
}
