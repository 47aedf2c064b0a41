// In charge of: running a segmented plan with its pipes written to files, one for each stream.
// Not in charge of: expectations, cutting.
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { expect } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { fileInputFlags } from '../../../transcoder/ffmpeg/inputAllowlist.ts'
import { printableCommand } from '../../../transcoder/ffmpeg/printableCommand.ts'
import { FIRST_PIPE_FD, runFfmpeg } from '../../../transcoder/ffmpeg/run.ts'
import { readStreamDetails } from '../../../transcoder/analysis/streamDetails.ts'
import { surveyVideo } from '../../../transcoder/analysis/surveyVideo.ts'
import { measureSource } from '../../../transcoder/analysis/measureSource.ts'
import { ffmpegArgsOf } from '../transcoder/ffmpegArgsOf.ts'
import type { SourceCues } from '../../../transcoder/plan/streams/cuePlan.ts'
import { cutSource } from '../../../transcoder/plan/streams/cut.ts'
import { timelineOf } from '../../../transcoder/plan/streams/outputTiming.ts'
import { planJob } from '../../../transcoder/plan/planJob.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { plannedPipes } from '../../../transcoder/plan/model/plannedPipes.ts'
import { probeOnce } from './encodeJob.ts'
import { testFfmpeg } from './media.ts'

let runs = 0

/** Files by name: `video_0 cmaf`, `audio_1 ts`, `captions`. */
export async function encodeSegmentStreams(
  spec: JobSpec,
  input: string,
  cwd: string,
  cues: SourceCues | null = null,
): Promise<{ plan: Plan; file: (name: string) => string; stderr: string }> {
  const programs = await testFfmpeg()
  const probed = await probeOnce(programs, input, { cwd })
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
  const plan = withoutCarriers(planJob(spec, media, { features: programs.features, cues }))
  const listed = plannedPipes(plan)
  runs += 1
  const files = new Map(
    listed.map((stream) => {
      const name =
        stream.kind === 'rendition' ? `${plan.packaging!.renditions[stream.rendition]!.id} ${stream.form}` : stream.kind
      return [name, `${cwd}/${runs}_${name.replace(' ', '.')}`]
    }),
  )
  const paths = [...files.values()]
  const args = ffmpegArgsOf(plan, {
    input: `file:${input}`,
    inputFlags: fileInputFlags(),
    outputs: paths.map((_path, index) => `pipe:${FIRST_PIPE_FD + index}`),
    threads: 0,
  })
  const result = await runFfmpeg(programs, args, {
    cwd,
    pipeReaders: paths.map((path) => (stream) => pipeline(stream, createWriteStream(path))),
  })
  expect(result, `${printableCommand('ffmpeg', args)}\n${result.stderr}`).toMatchObject({ ended: 'exit', code: 0 })
  return {
    plan,
    stderr: result.stderr,
    file: (name) => {
      const path = files.get(name)
      if (path === undefined) throw new Error(`no stream ${name}, but ${[...files.keys()].join(', ')}`)
      return path
    },
  }
}

/** Captions that an attempt writes for the frames of another rate (pipeline/captionTracks.ts): here nothing writes them. */
function withoutCarriers(plan: Plan): Plan {
  const renditions = plan.packaging?.renditions.map((rendition) => {
    const { video } = rendition
    if (video?.embedded !== 'source') return rendition
    return { ...rendition, video: { ...video, embedded: null } }
  })
  return plan.packaging === null ? plan : { ...plan, packaging: { ...plan.packaging, renditions: renditions ?? [] } }
}
