// In charge of: CRC_32 of sections (ISO/IEC 13818-1, annex A).
// Not in charge of: the sections themselves (section.ts).

const POLYNOMIAL = 0x04c11db7

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24
  for (let bit = 0; bit < 8; bit++) rest = (rest & 0x80000000) === 0 ? rest << 1 : (rest << 1) ^ POLYNOMIAL
  return rest >>> 0
})

/** The register after `bytes`: most significant bit first, initially all ones. 0 for a whole undamaged section. */
export function crc32(bytes: Uint8Array): number {
  let register = 0xffffffff
  for (const byte of bytes) register = ((register << 8) ^ table[((register >>> 24) ^ byte) & 0xff]!) >>> 0
  return register
}

/** Writes the CRC of all other bytes into the last four. */
export function sealSection(section: Uint8Array): Uint8Array {
  const end = section.length - 4
  new DataView(section.buffer, section.byteOffset).setUint32(end, crc32(section.subarray(0, end)))
  return section
}
