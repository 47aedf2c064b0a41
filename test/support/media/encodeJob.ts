// In charge of: the whole path of a task without a Worker: probe, plan, arguments, run, check.
// Not in charge of: expectations.
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { MAX_JOB_PARTS } from '#contract/limits.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { findCues } from '../../../transcoder/analysis/findCues.ts'
import { multiplexStream, multiplexOptions } from '../../../transcoder/pipeline/multiplexOutput.ts'
import { fileInputFlags } from '../../../transcoder/ffmpeg/inputAllowlist.ts'
import { printableCommand } from '../../../transcoder/ffmpeg/printableCommand.ts'
import { FIRST_PIPE_FD, runFfmpeg } from '../../../transcoder/ffmpeg/run.ts'
import { readStreamDetails } from '../../../transcoder/analysis/streamDetails.ts'
import { surveyVideo } from '../../../transcoder/analysis/surveyVideo.ts'
import { measureSource } from '../../../transcoder/analysis/measureSource.ts'
import { ffmpegArgsOf } from '../transcoder/ffmpegArgsOf.ts'
import { planJob } from '../../../transcoder/plan/planJob.ts'
import type { EngineFeatures } from '../../../transcoder/plan/model/engineFeatures.ts'
import { plannedFiles } from '../../../transcoder/plan/model/plannedFiles.ts'
import type { Engine } from '../../../transcoder/ffmpeg/locate.ts'
import type { LogoImage } from '../../../transcoder/plan/model/mediaInfo.ts'
import { withDivision } from '../../../transcoder/division/plan/withDivision.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { cutSource } from '../../../transcoder/plan/streams/cut.ts'
import { outputStartSeconds, timelineOf } from '../../../transcoder/plan/streams/outputTiming.ts'
import { probe } from '../../../transcoder/analysis/probe.ts'
import { readOnce, testFfmpeg } from './media.ts'

let runs = 0

/** The transcoder's own probe of a file; jobs with the same source share it. */
export async function probeOnce(
  programs: Engine,
  input: string,
  options: { cwd: string; program?: number | null },
): ReturnType<typeof probe> {
  const key = ['probe', programs.ffprobe, options.program]
  return structuredClone(await readOnce(input, key, () => probe(programs, `file:${input}`, options)))
}

/** The plan of a job, without encoding anything. */
export async function probeAndPlan(
  spec: JobSpec,
  input: string,
  cwd: string,
  programs: Engine,
  abilities: EngineFeatures = programs.features,
  logo?: LogoImage,
): Promise<{ plan: Plan; cues: Awaited<ReturnType<typeof findCues>> | null }> {
  const probed = await probeOnce(programs, input, { cwd, program: spec.program })
  const source = {
    read: async function* () {
      yield* createReadStream(input)
    },
  }
  const cues =
    spec.scte35Passthrough && spec.container === 'ts'
      ? await findCues(source, probed, outputStartSeconds(spec, probed), AbortSignal.timeout(60_000))
      : null
  const inspected = await readStreamDetails(programs, `file:${input}`, spec, probed, { cwd, scratch: cwd })
  const survey = await surveyVideo(
    programs,
    `file:${input}`,
    { spec, media: inspected, timeline: timelineOf(spec, inspected, programs.features) },
    { cwd },
  )
  const { video } = inspected
  const surveyed = video === null || survey === null ? inspected : { ...inspected, video: { ...video, survey } }
  const { verdict } = cutSource(spec, surveyed, timelineOf(spec, surveyed, programs.features))
  const media = await measureSource(programs, `file:${input}`, { spec, media: surveyed, verdict }, { cwd })
  const plan = planJob(spec, media, { features: abilities, cues, logo })
  return { plan: withDivision(spec, plan, media, { seekable: true, maxParts: MAX_JOB_PARTS }), cues }
}

export interface EncodeOptions {
  /** Default: those of the engine. */
  features?: EngineFeatures
  logo?: { image: LogoImage; file: string } | undefined
  threads?: number
  /** Default: the ffmpeg of this machine. */
  engine?: Engine
}

interface Encoded {
  plan: Plan
  outputs: [string, ...string[]]
  stderr: string
}

/** `encodeJob` with its outputs in that directory. */
export const encoderIn =
  (directory: { path: string }) =>
  (spec: JobSpec, input: string, options?: EncodeOptions): Promise<Encoded> =>
    encodeJob(spec, input, directory.path, options)

/**
 * Encodes a local file as the job says. Throws if ffmpeg fails; the error contains ffmpeg's message and the command.
 */
export async function encodeJob(
  spec: JobSpec,
  input: string,
  cwd: string,
  options: EncodeOptions = {},
): Promise<Encoded> {
  const { features, logo, threads = 0 } = options
  const programs = options.engine ?? (await testFfmpeg())
  const { plan, cues } = await probeAndPlan(spec, input, cwd, programs, features, logo?.image)
  runs += 1
  const [first, ...more] = plannedFiles(plan).map((file, index) => `${cwd}/${runs}_${index}.${file.container}`)
  if (first === undefined) throw new Error('the job has no output')
  const outputs: [string, ...string[]] = [first, ...more]
  const taken = plan.outputs.filter(({ container }) => container === 'ts')
  const args = ffmpegArgsOf(plan, {
    input: `file:${input}`,
    inputFlags: fileInputFlags(),
    outputs: outputs.map((file, index) => (index < taken.length ? `pipe:${FIRST_PIPE_FD + index}` : file)),
    threads,
    ...(logo === undefined ? {} : { logo: logo.file }),
  })
  const pipeReaders = taken.map((output, index) => async (stream: Readable) => {
    const late = await multiplexStream(stream, outputs[index]!, multiplexOptions(plan, output, cues?.cues ?? []), 1e9)
    if (late > 0) throw new Error(`${late} access units are late`)
  })
  const result = await runFfmpeg(programs, args, { cwd, pipeReaders, outputFiles: outputs.slice(taken.length) })
  if (result.ended !== 'exit' || result.code !== 0)
    throw new Error(`${result.ended} ${result.code}\n${printableCommand('ffmpeg', args)}\n${result.stderr}`)
  return { plan, outputs, stderr: result.stderr }
}
