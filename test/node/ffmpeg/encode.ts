// In charge of: the whole path of a task without a Worker: probe, plan, argv, run, check.
// Not in charge of: expectations.
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import type { JobSpec } from '#contract/spec.ts'
import { conveyWithCues, findCues } from '../../../transcoder/cues.ts'
import { fileInputFlags } from '../../../transcoder/ffmpeg/cell.ts'
import { FIRST_TAKEN, printableCommand, runFfmpeg } from '../../../transcoder/ffmpeg/run.ts'
import { inspect } from '../../../transcoder/inspect.ts'
import { measure } from '../../../transcoder/measure.ts'
import { ffmpegArgs } from '../../../transcoder/plan/argv.ts'
import { planJob, type EngineAbilities } from '../../../transcoder/plan/decide.ts'
import { plannedFiles } from '../../../transcoder/plan/files.ts'
import type { LogoImage } from '../../../transcoder/plan/media.ts'
import type { Plan } from '../../../transcoder/plan/plan.ts'
import { outputStart } from '../../../transcoder/plan/start.ts'
import { probe } from '../../../transcoder/probe.ts'
import { engine } from '../media.ts'

let runs = 0

/** Encodes a local file as the job says. Throws where ffmpeg fails; its complaint and the command are in the error. */
export async function encode(
  spec: JobSpec,
  input: string,
  cwd: string,
  abilities?: EngineAbilities,
  logo?: { image: LogoImage; file: string },
  threads = 0,
): Promise<{ plan: Plan; outputs: [string, ...string[]]; stderr: string }> {
  const programs = await engine()
  const able = abilities ?? programs.features
  const probed = await probe(programs, `file:${input}`, { cwd, program: spec.program })
  const source = {
    read: async function* () {
      yield* createReadStream(input)
    },
  }
  const cues =
    spec.passCues && spec.container === 'ts'
      ? await findCues(source, probed, outputStart(spec, probed), AbortSignal.timeout(60_000))
      : null
  const inspected = await inspect(programs, `file:${input}`, spec, probed, { cwd, scratch: cwd })
  const media = await measure(programs, `file:${input}`, { spec, media: inspected }, { cwd })
  const plan = planJob(spec, media, able, cues, logo?.image)
  runs += 1
  const [first, ...more] = plannedFiles(plan).map((file, index) => `${cwd}/${runs}_${index}.${file.container}`)
  if (first === undefined) throw new Error('the job has no output')
  const outputs: [string, ...string[]] = [first, ...more]
  const taken = plan.cues === null ? [] : plan.outputs
  const args = ffmpegArgs(plan, {
    input: `file:${input}`,
    inputFlags: fileInputFlags(),
    outputs: outputs.map((file, index) => (index < taken.length ? `pipe:${FIRST_TAKEN + index}` : file)),
    threads,
    ...(logo === undefined ? {} : { logo: logo.file }),
  })
  const takers = taken.map(({ muxRateKbps }, index) => {
    const { pid, streamType } = plan.cues!
    const options = { pid, cueStreamType: streamType, rateKbps: muxRateKbps, cues: cues?.cues ?? [] }
    return (stream: Readable) => conveyWithCues(stream, outputs[index]!, options, 1e9)
  })
  const result = await runFfmpeg(programs, args, { cwd, takers, creates: outputs })
  if (result.ended !== 'exit' || result.code !== 0)
    throw new Error(`${result.ended} ${result.code}\n${printableCommand('ffmpeg', args)}\n${result.stderr}`)
  return { plan, outputs, stderr: result.stderr }
}
