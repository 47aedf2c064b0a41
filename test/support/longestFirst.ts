// In charge of: the order of test files: those that take longest begin first, so that none of them runs alone at the end
// while the other cores wait. vitest alone begins with the largest file, unless an earlier run left times; some of the
// slowest files are the smallest ones.
// Not in charge of: which files run, how many at a time (vitest.config.ts).
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The longest first (`npm test` prints the slowest ones). The order of files is all that depends on it. */
export const LONGEST: readonly string[] = [
  'test/containers/lostContainers.test.ts',
  'test/node/matrix/quickRows.test.ts',
  'test/node/transcoder/encoding/video/chunkSources.long.test.ts',
  'test/node/validators/validators.long.test.ts',
  'test/node/harness/simulation.test.ts',
  'test/node/players/players.test.ts',
  'test/node/players/divided.long.test.ts',
  'test/node/matrix/dividedRows.long.test.ts',
  'test/node/matrix/dividedRun.long.test.ts',
  'test/node/chaos/processKills.long.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of the sequencer, not of an array
    const byDefault = await super.sort(files)
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = LONGEST.indexOf(relative(project.config.root, moduleId))
      // A group begins when the one before it has ended, so no file leaves its own.
      return project.config.sequence.groupOrder * (LONGEST.length + 1) + (place === -1 ? LONGEST.length : place)
    }
    return byDefault.toSorted((a, b) => rank(a) - rank(b))
  }
}
