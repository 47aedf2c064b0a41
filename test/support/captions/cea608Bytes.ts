// In charge of: CEA-608 bytes for tests.
// Not in charge of: their meaning.

/** With its parity bit, which makes the number of ones odd. */
export function withOddParity(byte: number): number {
  let ones = 0
  for (let bit = 0; bit < 7; bit += 1) ones += (byte >> bit) & 1
  return ones % 2 === 1 ? byte : byte | 0x80
}

export function ccDataTriplet(field: 0 | 1, first: number, second: number): number[] {
  return [0xfc | field, withOddParity(first), withOddParity(second)]
}

/** Two characters per pair. */
export function characterPairs(text: string): [number, number][] {
  const codes = [...Buffer.from(text, 'latin1')]
  return Array.from({ length: Math.ceil(codes.length / 2) }, (_, at) => [codes[at * 2]!, codes[at * 2 + 1] ?? 0])
}
