// In charge of: whether a name is likely a misspelling of another one.

/** At most one letter added, missing, replaced or swapped with its neighbour; in a short word, swapped only. */
export function isSimilarName(known: string, given: string): boolean {
  if (known === given) return true
  if (Math.abs(known.length - given.length) > 1) return false
  let start = 0
  while (start < known.length && known[start] === given[start]) start++
  const [left, right] = [known.slice(start), given.slice(start)]
  if (left.length > 1 && left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2)) return true
  if (Math.min(known.length, given.length) < 5) return false
  return left.slice(1) === right.slice(1) || left === right.slice(1) || left.slice(1) === right
}

/** The first of the names that was probably meant. Clients and people may write names of any length. */
export function similarName(given: string, names: readonly string[]): string | undefined {
  return given.length > 100 ? undefined : names.find((name) => isSimilarName(name, given))
}
