// In charge of: the whole path of a task without a Worker: probe, plan, argv, run, check.
// Not in charge of: expectations.
import { expect } from 'vitest'
import type { JobSpec } from '#contract/spec.ts'
import { fileInputFlags } from '../../../transcoder/ffmpeg/cell.ts'
import { printableCommand, runFfmpeg } from '../../../transcoder/ffmpeg/run.ts'
import { inspect } from '../../../transcoder/inspect.ts'
import { measure } from '../../../transcoder/measure.ts'
import { ffmpegArgs } from '../../../transcoder/plan/argv.ts'
import { planJob, type EngineAbilities } from '../../../transcoder/plan/decide.ts'
import { plannedFiles } from '../../../transcoder/plan/files.ts'
import type { LogoImage } from '../../../transcoder/plan/media.ts'
import type { Plan } from '../../../transcoder/plan/plan.ts'
import { probe } from '../../../transcoder/probe.ts'
import { engine } from '../media.ts'

let runs = 0

/** Encodes a local file as the job says. Fails the test where ffmpeg does; its complaint and the command are in the failure. */
export async function encode(
  spec: JobSpec,
  input: string,
  cwd: string,
  abilities?: EngineAbilities,
  logo?: { image: LogoImage; file: string },
): Promise<{ plan: Plan; outputs: [string, ...string[]]; stderr: string }> {
  const programs = await engine()
  const probed = await probe(programs, `file:${input}`, { cwd, program: spec.program })
  const inspected = await inspect(programs, `file:${input}`, spec, probed, { cwd, scratch: cwd })
  const media = await measure(programs, `file:${input}`, { spec, media: inspected }, { cwd })
  const plan = planJob(spec, media, abilities ?? programs.features, null, logo?.image)
  runs += 1
  const [first, ...more] = plannedFiles(plan).map((file, index) => `${cwd}/${runs}_${index}.${file.container}`)
  if (first === undefined) throw new Error('the job has no output')
  const outputs: [string, ...string[]] = [first, ...more]
  const args = ffmpegArgs(plan, {
    input: `file:${input}`,
    inputFlags: fileInputFlags(),
    outputs,
    threads: 0,
    ...(logo === undefined ? {} : { logo: logo.file }),
  })
  const result = await runFfmpeg(programs, args, { cwd })
  expect(result, `${printableCommand('ffmpeg', args)}\n${result.stderr}`).toMatchObject({ ended: 'exit', code: 0 })
  return { plan, outputs, stderr: result.stderr }
}
