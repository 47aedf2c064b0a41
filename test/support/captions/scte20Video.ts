// In charge of: MPEG-2 video with captions of ANSI/SCTE 20, written bit by bit, for tests.
// Not in charge of: the caption bytes (cea608Bytes.ts).

/** user_data with its start code: pairs of (field_number, first byte, second byte). */
export function scte20UserData(pairs: readonly (readonly [number, number, number])[]): number[] {
  const bits = (value: number, width: number): string => value.toString(2).padStart(width, '0')
  const lowFirst = (byte: number): string => bits(byte, 8).split('').toReversed().join('')
  const constructs = pairs.map(([field, one, two]) => `00${bits(field, 2)}01011${lowFirst(one)}${lowFirst(two)}1`)
  const all = `${bits(0x03, 8)}10000001${bits(pairs.length, 5)}${constructs.join('')}`
  const padded = all.padEnd(Math.ceil(all.length / 8) * 8, '1')
  return [0, 0, 1, 0xb2, ...(padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))]
}

/** One pair per picture, in the first field, after the extension of each picture. Without B-frames, in coded order. */
export function withScte20(stream: Buffer, pairs: readonly (readonly [number, number])[]): Buffer {
  const parts: Uint8Array[] = []
  let [from, picture] = [0, 0]
  for (let at = stream.indexOf('000001b5', 0, 'hex'); at >= 0; at = stream.indexOf('000001b5', at + 4, 'hex')) {
    if (stream[at + 4]! >> 4 !== 8) continue
    const next = stream.indexOf('000001', at + 4, 'hex')
    const [one, two] = pairs[picture++] ?? [0x80, 0x80]
    parts.push(stream.subarray(from, next), Uint8Array.from(scte20UserData([[1, one, two]])))
    from = next
  }
  return Buffer.concat([...parts, stream.subarray(from)])
}
