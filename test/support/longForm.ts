// In charge of: the two lengths of the tests. `npm test` runs the short form; a group of long forms (longGroups.ts) the long one
// (LONG_TESTS=1): files named `*.long.test.ts`, and all values where the short form takes a sample.

export const LONG_FORM = process.env['LONG_TESTS'] === '1'

/** All of `values` in the long form; in the short form `count` of them, evenly spaced, with the first. */
export function sampled<T>(values: readonly T[], count: number): readonly T[] {
  if (LONG_FORM || values.length <= count) return values
  return Array.from({ length: count }, (_, index) => values[Math.floor((index * values.length) / count)] as T)
}
