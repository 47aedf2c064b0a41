// In charge of: even sizes and offsets: with 4:2:0 sampling, two luma samples share one chroma sample.
// Not in charge of: which sizes are chosen (geometry.ts, ladder.ts).

/** The nearest even number from 2. */
export function even(value: number): number {
  return Math.max(2, 2 * Math.round(value / 2))
}

/** The even offset at which `inner` is in the middle of `outer`. */
export function centre(outer: number, inner: number): number {
  return 2 * Math.floor((outer - inner) / 4)
}
