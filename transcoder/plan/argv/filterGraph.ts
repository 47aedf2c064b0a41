// In charge of: one filter graph in which work that several outputs share is done once.
// Not in charge of: which filters an output needs (filters.ts).

export interface Branch {
  /** Filters in order, each in ffmpeg's syntax; at least one. */
  filters: readonly string[]
  /** Label of the result, without brackets. */
  label: string
}

/**
 * Writes branches that start at one input pad (`[0:V:0]`) as filter chains. Equal beginnings are shared and then split:
 * one decode, one deinterlacer, one scaler for each distinct size.
 */
export function buildSharedGraph(input: string, branches: readonly Branch[], split: 'split' | 'asplit'): string[] {
  const [first] = branches
  if (first === undefined) return []
  if (branches.length === 1) return [`${input}${first.filters.join(',')}[${first.label}]`]

  let common = 0
  while (common < first.filters.length && branches.every((branch) => branch.filters[common] === first.filters[common]))
    common += 1

  const remaining = branches.map((branch) => ({ ...branch, filters: branch.filters.slice(common) }))
  // Branches with the same next filter stay together. A branch without further filters is a result of this split.
  const groups: Branch[][] = []
  for (const branch of remaining) {
    const group =
      branch.filters.length === 0 ? undefined : groups.find(([other]) => other?.filters[0] === branch.filters[0])
    if (group === undefined) groups.push([branch])
    else group.push(branch)
  }
  const labels = groups.map((group) =>
    group.length === 1 && group[0]?.filters.length === 0
      ? group[0].label
      : `${split[0]}_${group.map((branch) => branch.label).join('_')}`,
  )
  const pads = labels.map((label) => `[${label}]`).join('')
  const head = `${input}${[...first.filters.slice(0, common), `${split}=${groups.length}`].join(',')}${pads}`
  return [
    head,
    ...groups.flatMap((group, position) =>
      group[0]?.filters.length === 0 ? [] : buildSharedGraph(`[${labels[position]}]`, group, split),
    ),
  ]
}
