// In charge of: the loudness of one stretch of a source's audio, as counted blocks that add up with those of the others.
// Not in charge of: which stretch (plan/division/loudnessSurvey.ts), the sum (plan/audio/loudnessLevels.ts), measuring a
// whole source (analysis/measureLoudness.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { FfmpegPrograms } from '../../ffmpeg/run.ts'
import { stampedClock } from '../../plan/argv/chunkArgs.ts'
import { readCut, type CutReading } from '../../plan/argv/cutArgs.ts'
import { countLevels, type LoudnessLevels } from '../../plan/audio/loudnessLevels.ts'
import type { LoudnessShare } from '../../plan/division/loudnessSurvey.ts'
import { mixedStreams } from '../../plan/model/channelMix.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { CutPlan } from '../../plan/model/sourceReadingPlan.ts'
import { audioSpecifier, usedPids } from '../../plan/streams/programSelection.ts'
import type { StampedShare } from './stampedShare.ts'
import { loudnessInput, parseEbur128, readBlockLevel, type MeasuredBranch } from './ebur128.ts'
import { runEbur128 } from './runEbur128.ts'

interface Options {
  signal: AbortSignal
  cwd: string
  threads: number
  /** Further options of the input. */
  flags?: readonly string[]
  /** Where the stretch is in a transport stream; missing = the index of the source says it. */
  stamped?: StampedShare
  onSeconds: (measured: number) => void
}

const BLOCKS_PER_SECOND = 10
/**
 * Before a stretch: a block looks back for 0.4 s, and its filter and the limiter have settled by then. The audio is faded
 * in, because a peak meter sees more in an edge than there is.
 */
export const RUN_IN_SECONDS = 1
const FADE_IN = 'afade=t=in:d=0.25'

/** For each branch, in order; null = it could not be measured. `cut`: that of the job. */
export async function measureShare(
  engine: FfmpegPrograms,
  url: string,
  { cut, ...source }: { spec: JobSpec; media: MediaInfo; cut: CutPlan | null },
  share: LoudnessShare,
  branches: readonly MeasuredBranch[],
  { threads, onSeconds, flags = [], stamped, ...run }: Options,
): Promise<(LoudnessLevels | null)[]> {
  const runIn = Math.min(RUN_IN_SECONDS, share.startSeconds)
  const part = stamped === undefined ? indexedPart(cut, share, runIn) : stampedPart(stamped, runIn)
  const streams = branches.flatMap(({ stream, mix }) => mixedStreams({ sourceStream: stream, mix }))
  const reading = { input: [...flags, ...loudnessInput(url, source, streams, part)], part }
  const measuring = {
    pad: ({ stream }: MeasuredBranch) => audioSpecifier(usedPids(source.media), stream),
    threads,
    blocks: true,
    before: runIn === 0 ? [] : [FADE_IN],
  }
  const onAgain = () => {
    for (const each of levels) each.length = 0
  }
  const levels = branches.map((): number[] => [])
  const result = await runEbur128(
    engine,
    reading,
    branches,
    { measuring, media: source.media, onAgain },
    {
      ...run,
      onProgress: ({ outSeconds }) => onSeconds(outSeconds),
      onLine: (line) => {
        const block = readBlockLevel(line)
        if (block) levels[block.branch]?.push(block.lufs)
        return block === undefined
      },
    },
  )
  run.signal.throwIfAborted()
  if (result.ended !== 'exit' || result.code !== 0) return branches.map(() => null)
  return levels.map((momentary, index) => {
    const peak = parseEbur128(result.stderr, `m${index}`)?.truePeakDb ?? null
    return countLevels(momentary.slice(runIn * BLOCKS_PER_SECOND), peak)
  })
}

function indexedPart(cut: CutPlan | null, { startSeconds, endSeconds }: LoudnessShare, runIn: number): CutReading {
  const whole: CutPlan = cut ?? { startSeconds: 0, endSeconds: null, frames: null, seekOriginSeconds: 0 }
  return readCut(
    {
      cut: {
        ...whole,
        frames: null,
        movesClock: false,
        startSeconds: whole.startSeconds + startSeconds - runIn,
        endSeconds: endSeconds === null ? whole.endSeconds : whole.startSeconds + endSeconds,
      },
    },
    true,
  )
}

/** ffmpeg's clock is 0 where the run-in begins: audio before is left out (panFilter). */
function stampedPart({ fromSeconds, beginSeconds, endSeconds }: StampedShare, runIn: number): CutReading {
  const originSeconds = beginSeconds - runIn
  return {
    seek: stampedClock(fromSeconds, originSeconds),
    cut: {
      startSeconds: 0,
      endSeconds: endSeconds === null ? null : endSeconds - originSeconds,
      frames: null,
      seekOriginSeconds: null,
    },
  }
}
