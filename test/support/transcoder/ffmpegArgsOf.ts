// In charge of: the arguments of a plan in tests, which name only the targets that they are about.
// Not in charge of: expectations.
import type { Plan } from '#contract/task/plan/plan.ts'
import {
  ffmpegArgs,
  NO_FILES,
  type ArgvTargets,
  type SourceInput,
  type WrittenFiles,
} from '../../../transcoder/plan/argv/ffmpegArgs.ts'

type Targets = Pick<ArgvTargets, 'outputs' | 'threads'> &
  Partial<WrittenFiles> &
  Partial<Pick<SourceInput, 'seekable'>> & { input: string; inputFlags: readonly string[]; cores?: number }

export function ffmpegArgsOf(
  plan: Plan,
  { input: url, inputFlags, seekable = false, outputs, threads, cores, ...files }: Targets,
) {
  return ffmpegArgs(plan, {
    input: { kind: 'source', url, flags: inputFlags, bursts: [], seekable, steady: null },
    files: { ...NO_FILES, ...files },
    carrierClock: 'filter',
    outputs,
    threads,
    cores: cores ?? null,
  })
}
