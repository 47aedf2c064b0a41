// In charge of: reading one text subtitle stream of the source as captions, in a run of its own before the encode: libass
// reads a whole file before the first frame.
// Not in charge of: which stream (plan/streams/burnIn.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../../attempt.ts'
import { inputFlags } from '../../ffmpeg/inputAllowlist.ts'
import { FIRST_PIPE_FD, runFfmpeg } from '../../ffmpeg/run.ts'
import type { CaptionCue } from '../../formats/captions/captionCue.ts'
import { CaptionError } from '../../formats/captions/captionError.ts'
import { teletextArgs } from '../../plan/argv/segmentArgs.ts'
import type { MediaInfo, OtherStream } from '../../plan/model/mediaInfo.ts'
import { DEEP_PROBE_FLAGS, needsDeepProbe } from '../../plan/streams/audioStreamCount.ts'
import { outputStartSeconds } from '../../plan/streams/outputTiming.ts'
import { readSubtitles, type SubtitleText } from '../../segmenter/subtitleReader.ts'
import { readCaptionsApart } from '../../source/captionProcess.ts'
import { requireCompleteSource } from '../encode.ts'

/** WebVTT has no negative times, and subtitles may begin before the first frame. */
const SHIFT_SECONDS = 100

/** In seconds after the first frame of the outputs without a cut. */
export async function readTextStream(
  attempt: Pick<Attempt, 'engine' | 'loopback' | 'workspace' | 'controller'>,
  { spec, media, stream }: { spec: JobSpec; media: MediaInfo; stream: OtherStream },
): Promise<CaptionCue[]> {
  const { engine, loopback, workspace, controller } = attempt
  const whole = media.cut?.whole ?? media
  let read: SubtitleText = { text: '', truncated: false }
  const result = await runFfmpeg(
    engine,
    [
      ...['-nostdin', '-hide_banner', '-loglevel', 'level+warning', '-nostats', '-progress', 'pipe:1'],
      // The file's own clock, which is the same in every version of ffmpeg.
      '-copyts',
      ...inputFlags(loopback.url),
      ...(needsDeepProbe(spec, whole) ? DEEP_PROBE_FLAGS : []),
      ...(stream.codec === 'dvb_teletext' ? teletextArgs(stream.index) : []),
      ...['-i', loopback.url],
      ...['-map', `0:${stream.index}`, '-map_metadata', '-1', '-map_chapters', '-1', '-c:s', 'webvtt'],
      ...['-output_ts_offset', (SHIFT_SECONDS - outputStartSeconds(spec, whole)).toFixed(6)],
      ...['-fflags', '+bitexact', '-f', 'webvtt', `pipe:${FIRST_PIPE_FD}`],
    ],
    {
      cwd: workspace.cwd,
      purpose: 'read the subtitles that are drawn',
      signal: controller.signal,
      limits: { fileBytes: 0 },
      // Minutes without subtitles are no stall while the source is read.
      bytesRead: () => loopback.bytesServed,
      pipeReaders: [async (pipe) => void (read = await readSubtitles(pipe))],
    },
  )
  controller.signal.throwIfAborted()
  requireCompleteSource(attempt)
  if (result.code !== 0)
    throw new TaskError('captions_unreadable', 'The subtitle stream that is to be drawn cannot be read.', {
      field: 'burn_in_captions.source_track',
    })
  return cuesOf(attempt, read.text)
}

async function cuesOf(attempt: Parameters<typeof readCaptionsApart>[0], text: string): Promise<CaptionCue[]> {
  try {
    const request = { format: 'webvtt', offsetSeconds: -SHIFT_SECONDS } as const
    const { cues } = await readCaptionsApart(attempt, Buffer.from(text), request)
    return cues.filter(({ end }) => end > 0)
  } catch (error) {
    if (!(error instanceof CaptionError)) throw error
    throw new TaskError('captions_unreadable', `The subtitle stream cannot be read as text. ${error.message}`, {
      field: 'burn_in_captions.source_track',
    })
  }
}
