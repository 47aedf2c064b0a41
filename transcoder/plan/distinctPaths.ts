// In charge of: the rule that no two files of a plan have the same path, or names that differ only in case or Unicode form.
// Not in charge of: paths that can be compared before the source is known (contract/job/rules).
import { TaskError } from '#contract/taskError.ts'
import { fileKey } from '#contract/job/paths/outputNames.ts'
import type { ExtractsPlan } from '#contract/task/plan/extractsPlan.ts'
import type { AudioFilePlan, OutputPlan } from '#contract/task/plan/plan.ts'

/** Throws output_path_conflict. */
export function requireDistinctPaths(
  outputs: readonly OutputPlan[],
  audioFiles: readonly AudioFilePlan[],
  extracts: ExtractsPlan | null,
): void {
  const owners = new Map<string, string>()
  const all = [
    ...outputs.map((output) => ({ path: output.path, name: `videoProfiles[${output.profile}]`, field: '.output' })),
    ...audioFiles.map((file) => ({ path: file.path, name: `audioProfiles[${file.profile}]`, field: '' })),
    ...(extracts?.stills ?? []).flatMap(({ index, images }) =>
      images.map(({ path }) => ({ path, name: `stills[${index}]`, field: '.output' })),
    ),
    ...[extracts?.preview ?? []].flat().map(({ path }) => ({ path, name: 'animated_preview', field: '' })),
    ...[extracts?.waveform ?? []].flat().map(({ path }) => ({ path, name: 'waveform', field: '' })),
  ]
  for (const { path, name, field } of all) {
    const first = owners.get(fileKey(path))
    if (first !== undefined)
      throw new TaskError('output_path_conflict', `${first} and ${name} would both write ${path}`, {
        field: `${name}${field}`,
        details: { path },
      })
    owners.set(fileKey(path), name)
  }
}
