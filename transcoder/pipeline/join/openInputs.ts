// In charge of: the inputs of a joined source: opening, probing and analysing each, and joining what was found.
// Not in charge of: how they are joined (plan/join), decoding them (joinFeed.ts).
import { join as joinPaths } from 'node:path'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { explainRefusal } from '../../analysis/fileKind.ts'
import { findCues } from '../../analysis/findCues.ts'
import { withCaptionLanguages } from '../../analysis/captionLanguages.ts'
import { measureLoudness } from '../../analysis/measureLoudness.ts'
import { measureSource } from '../../analysis/measureSource.ts'
import { probe } from '../../analysis/probe.ts'
import { requireSourceSeconds, usedSeconds, withLengths } from '../sourceLengths.ts'
import { readStreamDetails } from '../../analysis/streamDetails.ts'
import type { Attempt } from '../../attempt.ts'
import { cutCues } from '../../formats/scte35/cutCues.ts'
import type { CueFindings } from '../../formats/scte35/cueScan.ts'
import { joinCues } from '../../formats/scte35/joinCues.ts'
import { joinedInputArgs } from '../../plan/argv/pieceArgs.ts'
import { planJoin, pieceStarts, type JoinedSource } from '../../plan/join/planJoin.ts'
import { pieceError, pieceSpec } from '../../plan/join/pieceSpec.ts'
import type { JoinPlan } from '#contract/task/plan/joinPlan.ts'
import type { LogoImage, MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { DrawnCaptions } from '../../plan/streams/burnIn.ts'
import { planJob, uniqueWarnings } from '../../plan/planJob.ts'
import { cutSource, type SourceUse } from '../../plan/streams/cut.ts'
import { carriesCues } from '../../plan/streams/cuePlan.ts'
import { timelineOf } from '../../plan/streams/outputTiming.ts'
import { withoutUnusedVideo } from '../../plan/streams/unusedVideo.ts'
import { audioPad } from '../../plan/streams/programSelection.ts'
import { LoopbackServer } from '../../source/loopbackServer.ts'
import { requireUnencrypted } from '../../source/encryption/encryptionCheck.ts'
import { isHls, prepareSource } from '../../source/prepareSource.ts'
import type { SourceReaderOptions } from '../../source/sourceReader.ts'
import { AudioFormatChange, requireCompleteSource } from '../encode.ts'
import { FIRST_PIPE_FD } from '../../ffmpeg/run.ts'
import type { CaptionFile } from '../../formats/captions/captionFile.ts'
import { warnPieces, type SplitSource } from './sourcePieces.ts'
import { JoinFeed } from './joinFeed.ts'
import type { OpenInput } from './openInput.ts'

/** What is cached of one input, and of all together (source/readCache.ts). */
const MAX_CACHE_BYTES = 24 * 1024 * 1024
const MAX_CACHES_BYTES = 256 * 1024 * 1024

/** Programs that analyse inputs at the same time. */
const PARALLEL = 2

/** What the inputs of an attempt share. */
export interface InputsContext {
  attempt: Attempt
  spec: JobSpec
  source: SourceReaderOptions | undefined
  onCleanup: (cleanup: () => Promise<unknown>) => void
  onSecret: (secret: string) => void
  /** The source was split into the inputs (sourcePieces.ts). */
  split?: SplitSource | undefined
}

/** Opens and probes all inputs. The first input is read through the server of the attempt. Errors name the input. */
export async function openInputs(context: InputsContext): Promise<OpenInput[]> {
  const { attempt, spec } = context
  return eachInput(spec.inputs!, async (_input, piece) => {
    const own = { ...attempt, loopback: piece === 0 ? attempt.loopback : await openLoopback(context, piece) }
    const { head } = await own.loopback.open()
    if (isHls(head))
      throw new TaskError('unsupported_combination', 'HLS playlists cannot be joined; give the media files.')
    const { size } = await prepareSource(own, { allowHlsSource: false }, piece === 0 ? 'source' : `source-${piece}`)
    const stated = await probe(attempt.engine, own.loopback.url, {
      signal: attempt.controller.signal,
      cwd: attempt.workspace.cwd,
      program: spec.program,
    }).catch(async (error: unknown) => {
      requireCompleteSource(own)
      await requireUnencrypted(own.loopback, spec, null, attempt.controller.signal)
      throw await explainRefusal(own.loopback, error, attempt.controller.signal)
    })
    const { ranges: seekable } = await own.loopback.open()
    const probed = await withLengths(own, stated, size)
    const media = withoutUnusedVideo(pieceSpec(spec, piece, probed), probed)
    const timeline = timelineOf(pieceSpec(spec, piece, media), media, attempt.engine.features)
    return { loopback: own.loopback, media, timeline, sizeBytes: size, seekable }
  })
}

async function openLoopback(
  { attempt, spec, source, onCleanup, onSecret, split }: InputsContext,
  piece: number,
): Promise<LoopbackServer> {
  const { taskClient, controller, workspace } = attempt
  const loopback = await LoopbackServer.start(
    split?.pieces[piece] ?? ((range, etag, signal) => taskClient.fetchInput(range, etag, signal, piece)),
    controller.signal,
    (reason) => controller.abort(pieceError(piece, reason)),
    {
      ...source,
      cacheFile: joinPaths(workspace.root, `seen-${piece}`),
      maxCacheBytes: Math.min(MAX_CACHE_BYTES, Math.floor(MAX_CACHES_BYTES / spec.inputs!.length)),
    },
  )
  onCleanup(() => loopback.close())
  onSecret(loopback.secret)
  return loopback
}

/** The cues of each input, if the job asks for them; read in every attempt. */
export async function findInputCues(
  { attempt: { controller }, spec }: InputsContext,
  inputs: readonly OpenInput[],
): Promise<(CueFindings | null)[]> {
  if (!carriesCues(spec)) return inputs.map(() => null)
  return eachInput(inputs, ({ loopback, media, timeline }) =>
    findCues(loopback, media, timeline.startSeconds, controller.signal),
  )
}

/** The parts of the inputs that the job uses, analysed and joined. */
export async function analyzeInputs(
  { attempt, spec }: InputsContext,
  inputs: readonly OpenInput[],
  mostSeconds: number | undefined,
): Promise<JoinedSource> {
  const { engine, settings, workspace, controller } = attempt
  const dirs = { cwd: workspace.cwd, scratch: workspace.out, signal: controller.signal }
  const used = await eachInput(inputs, async ({ loopback, media }, piece) => {
    const own = pieceSpec(spec, piece, media)
    const [detailed] = await Promise.all([
      readStreamDetails(engine, loopback.url, own, media, dirs),
      requireUnencrypted(loopback, own, media, controller.signal),
    ])
    const described = await withCaptionLanguages(loopback, own, detailed, controller.signal)
    return cutSource(own, described, timelineOf(own, described, engine.features))
  })
  requireJoinedSeconds(mostSeconds, spec, used)
  const parts = await eachInput(inputs, async ({ loopback, media, seekable }, piece) => {
    const own = pieceSpec(spec, piece, media)
    const options = { cwd: workspace.cwd, signal: controller.signal, threads: settings.threads, seekable }
    const measured = await measureSource(engine, loopback.url, { spec: own, ...used[piece]! }, options)
    requireCompleteSource({ loopback })
    return measured
  })
  const joined = planJoin(spec, parts, engine.features)
  if (joined.spec.loudnessLufs === null) return joined
  const media = await measureJoined(attempt, joined, inputs, false).catch((error: unknown) => {
    if (!(error instanceof AudioFormatChange)) throw error
    return measureJoined(attempt, joined, inputs, true)
  })
  return { ...joined, media }
}

/** Throws source_too_long, which names the first input with which they are too long together. */
function requireJoinedSeconds(most: number | undefined, spec: JobSpec, used: readonly SourceUse[]): void {
  let seconds = 0
  for (const [piece, { media }] of used.entries()) {
    seconds += usedSeconds(pieceSpec(spec, piece, media), media) ?? 0
    try {
      requireSourceSeconds(most, seconds)
    } catch (error) {
      throw pieceError(piece, error)
    }
  }
}

async function measureJoined(
  attempt: Attempt,
  { join, media, spec }: JoinedSource,
  inputs: readonly OpenInput[],
  steady: boolean,
): Promise<MediaInfo> {
  const { engine, settings, workspace, controller } = attempt
  const feed = new JoinFeed(attempt, join, inputs, { only: 'audio', limit: null, steady })
  const audio: Pick<JoinPlan, 'canvas' | 'audio'> = { canvas: null, audio: join.audio }
  return measureLoudness(
    engine,
    '',
    { spec, media },
    {
      cwd: workspace.cwd,
      signal: controller.signal,
      threads: settings.threads,
      joined: {
        input: joinedInputArgs(
          audio,
          join.audio.map((_track, index) => `pipe:${FIRST_PIPE_FD + index}`),
        ),
        pad: (stream) => audioPad({ reads: { kind: 'pieces', join: { ...join, canvas: null } }, pids: null }, stream),
        pipeFeed: feed.pipeFeed(),
        isBlocked: () => feed.isStarving,
      },
    },
  )
}

/** The complete plan of a joined source. `found`: the cues of each input. */
export function planInputs(
  { attempt: { engine }, split }: InputsContext,
  { join, media, spec, warnings }: JoinedSource,
  found: readonly (CueFindings | null)[],
  { logo, captions, drawn }: { logo: LogoImage | null; captions: readonly CaptionFile[]; drawn: DrawnCaptions | null },
): Plan {
  const plan = planJob(spec, media, { features: engine.features, cues: cuesOf(join, found), logo, captions, drawn })
  return {
    ...plan,
    reads: { kind: 'pieces', join },
    // Raw frames are all alike.
    picture: { ...plan.picture, coded: undefined },
    warnings: uniqueWarnings([...warnPieces(split, join), ...warnings, ...plan.warnings]),
  }
}

export function cuesOf(join: JoinPlan, found: readonly (CueFindings | null)[]): ReturnType<typeof joinCues> {
  return joinCues(
    found.map((cues, piece) => cutCues(cues, join.pieces[piece]?.cut)),
    pieceStarts(join),
    join.pieces.map(({ durationSeconds }) => durationSeconds),
  )
}

/** In order, a few at a time. The error of an input names it. */
async function eachInput<In, Out>(
  inputs: readonly In[],
  work: (input: In, piece: number) => Promise<Out>,
): Promise<Out[]> {
  const done: Out[] = []
  const queue = inputs.entries()
  const next = async (): Promise<void> => {
    for (const [piece, input] of queue)
      done[piece] = await work(input, piece).catch((error: unknown) => {
        throw pieceError(piece, error)
      })
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, inputs.length) }, next))
  return done
}
