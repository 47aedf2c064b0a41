// In charge of: the changelog at a release: what was unreleased gets the version and its date.
// Not in charge of: files (release.ts).

const UNRELEASED = '## [Unreleased]'

/**
 * The changelog after a release. Headings without entries are left out of the released section.
 *
 * @param date YYYY-MM-DD
 * @throws Error if nothing is unreleased, or the version is listed already
 */
export function releaseChangelog(text: string, version: string, date: string): string {
  if (text.includes(`\n## [${version}]`)) throw new Error(`CHANGELOG.md already has a section ${version}.`)
  const start = text.indexOf(UNRELEASED)
  if (start < 0) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}".`)
  const after = text.indexOf('\n## ', start + 1)
  const end = after < 0 ? text.length : after + 1
  const section = text.slice(start + UNRELEASED.length, end)
  if (!/^- /m.test(section))
    throw new Error('CHANGELOG.md has no entry under "Unreleased": there is nothing to release.')
  // What introduces the unreleased entries is no part of a release.
  const entries = withoutEmptyHeadings(section.slice(section.search(/^(?:###|- )/m)))
  return `${text.slice(0, start)}${UNRELEASED}\n\n## [${version}] - ${date}\n\n${entries}${text.slice(end)}`
}

function withoutEmptyHeadings(section: string): string {
  const blocks = section.split(/^(?=###)/m)
  const depth = (block: string) => /^#*/.exec(block)![0].length
  return blocks
    .filter((block, index) => {
      if (depth(block) === 0 || /^- /m.test(block)) return true
      // A heading of others stays if one of those, up to the next of its own depth, has an entry.
      const rest = blocks.slice(index + 1)
      const next = rest.findIndex((other) => depth(other) <= depth(block))
      return rest.slice(0, next < 0 ? rest.length : next).some((other) => /^- /m.test(other))
    })
    .join('')
}
