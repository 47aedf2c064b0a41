// In charge of: stills, preview and waveform of a job made twice, by one task and divided: that they are the same.
// Not in charge of: making them (comparedDivision.ts), the other outputs (comparedSegments.ts, comparedFiles.ts).
import { expect } from 'vitest'
import type { FinishedObject, FinishPost } from '#contract/task/protocol.ts'
import type { ComparedDivision } from './comparedDivision.ts'

const ROLES: ReadonlySet<string> = new Set(['still', 'preview', 'waveform'])

export function extractsOf(finished: FinishPost | null): FinishedObject[] {
  return (finished?.objects ?? []).filter(({ role }) => ROLES.has(role))
}

/** Their order, names, types and bytes; and that the job ended as from one task. */
export function expectSameExtracts({ alone, divided, onlyAlone, onlyDivided, different }: ComparedDivision): void {
  expect(alone.problems).toEqual([])
  expect(divided.problems).toEqual([])
  expect(divided.finished?.undivided).toBeUndefined()
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  const described = ({ finished }: typeof alone) =>
    extractsOf(finished).map(({ path, role, content_type: type, size, sha256 }) => ({ path, role, type, size, sha256 }))
  expect(described(divided)).not.toEqual([])
  expect(described(divided)).toEqual(described(alone))
  const names = new Set(described(divided).map(({ path }) => path))
  expect(different.filter((name) => names.has(name))).toEqual([])
  expect(divided.finished?.usage).toEqual(alone.finished?.usage)
  expect(divided.finished?.warnings).toEqual(alone.finished?.warnings)
}
