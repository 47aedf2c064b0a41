// In charge of: data in PCM: bursts of Dolby E, AC-3 and others (SMPTE ST 337 and 338, IEC 61937), which are full-level noise to
// whoever plays them as sound.
// Not in charge of: decoding the samples (analysis/dataInAudio.ts), or what is in a burst.

/** Pa and Pb of 16, 20 and 24 bits, at the top of samples of 32. */
const SYNC = [16, 12, 8].map((shift) => {
  const [first, second] = [
    [0xf872, 0x4e1f],
    [0x6f872, 0x54e1f],
    [0x96f872, 0xa54e1f],
  ][(16 - shift) / 4]!
  return [(first! << shift) | 0, (second! << shift) | 0] as const
})
/** ST 338, table 1. */
const NAMES: Readonly<Record<number, string>> = { 1: 'AC-3', 16: 'E-AC-3', 21: 'E-AC-3', 24: 'AC-4', 28: 'Dolby E' }
/** Null data, time stamps and pauses stand between those of another type. */
const BETWEEN = new Set([0, 2, 3])
/** One could be chance. */
const MIN_BURSTS = 2

/** What the samples of a channel, or of two together, hold; null = sound. */
export function dataType(first: Int32Array, second: Int32Array | null): string | null {
  const counts = new Map<number, number>()
  const count = Math.min(first.length, second?.length ?? Infinity)
  for (let at = 0; at + 2 < count; at++) {
    const value = first[at]!
    for (const [pa, pb] of SYNC) {
      if (value !== pa || (second === null ? first[at + 1] : second[at]) !== pb) continue
      const type = (first[at + (second === null ? 2 : 1)]! >>> 16) & 31
      counts.set(type, (counts.get(type) ?? 0) + 1)
    }
  }
  const bursts = [...counts.values()].reduce((sum, each) => sum + each, 0)
  if (bursts < MIN_BURSTS) return null
  const type = [...counts.keys()].find((each) => !BETWEEN.has(each)) ?? 0
  return NAMES[type] ?? `data of type ${type}`
}
