// In charge of: version numbers of releases (Semantic Versioning 2.0.0) and the files that contain them.
// Not in charge of: the changelog (changelog.ts).

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/

/** @throws Error if `next` is not a version above `current`, or the very first one. */
export function requireNewer(current: string, next: string, isFirst: boolean): void {
  const numbers = (text: string) => VERSION.exec(text)?.slice(1).map(Number)
  const wanted = numbers(next)
  if (wanted === undefined) throw new Error(`"${next}" is not a version like 1.2.3.`)
  const before = numbers(current) ?? [0, 0, 0]
  const first = wanted.findIndex((part, index) => part !== before[index])
  const isNewer = first >= 0 && wanted[first]! > before[first]!
  if (!isNewer && !(isFirst && first < 0)) throw new Error(`${next} is not above the current version ${current}.`)
}

/** package.json or package-lock.json with another version. Nothing else changes, not even the formatting. */
export function withVersion(json: string, current: string, next: string): string {
  const own = `"version": "${current}"`
  const parts = json.split(own)
  // package-lock.json has it twice: at its top, and as the package "". Both come before all dependencies.
  const count = json.includes('"lockfileVersion"') ? 2 : 1
  if (parts.length <= count) throw new Error(`the version ${current} was not found`)
  return [parts.slice(0, count + 1).join(`"version": "${next}"`), ...parts.slice(count + 1)].join(own)
}
