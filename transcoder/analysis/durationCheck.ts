// In charge of: whether an output has its video, and the same duration as the source.
// Not in charge of: measuring the durations (probe.ts), whether the source was read completely
// (source/loopbackServer.ts).
import { TaskError } from '#contract/taskError.ts'
import { keepsJumps, type MediaInfo } from '../plan/model/mediaInfo.ts'
import type { PlannedFile } from '../plan/model/plannedFiles.ts'

/** An audio encoder may omit or add one packet at the end: 1536 samples (AC-3) at 32 kHz. */
const AUDIO_PACKET_SECONDS = 0.048

/**
 * Containers that state their duration or have time stamps from which it follows. For elementary streams it is only an
 * estimate from size and bit rate, which is not exact to a frame.
 */
export const EXACT_DURATION_FORMATS: ReadonlySet<string> = new Set([
  // A source of several pieces (plan/join).
  'joined',
  'mov',
  'mp4',
  'matroska',
  'webm',
  'mxf',
  'mpegts',
  'mpeg',
  'avi',
  'asf',
  'flv',
  'live_flv',
  'wav',
  'w64',
  'gxf',
])

/** A source of variable rate may show its last frame for longer than its packet says, up to the end that the track states. */
const LAST_FRAME_SECONDS = 0.25

/**
 * I6: within one frame or 0.1 %, whichever is more. `expectedSeconds` null = the source does not state its duration.
 */
export function requireExpectedDuration(
  output: Pick<PlannedFile, 'path' | 'frameSeconds'>,
  expectedSeconds: number | null,
  measured: Pick<MediaInfo, 'durationSeconds'>,
  { formats, video }: Pick<MediaInfo, 'formats' | 'video'>,
): void {
  const seconds = measured.durationSeconds
  if (seconds === null || !(seconds > 0))
    throw new TaskError('output_incomplete', `${output.path} has no measurable duration.`)
  if (expectedSeconds === null || !formats.some((format) => EXACT_DURATION_FORMATS.has(format))) return
  const isVariable = output.frameSeconds > 0 && video?.variableFrameRate === true
  const frameSeconds = isVariable ? Math.max(output.frameSeconds, LAST_FRAME_SECONDS) : output.frameSeconds
  const tolerance = Math.max(frameSeconds + AUDIO_PACKET_SECONDS, expectedSeconds * 0.001)
  if (seconds >= expectedSeconds - tolerance) return
  throw new TaskError(
    'output_incomplete',
    `${output.path} lasts ${seconds.toFixed(3)} s instead of ${expectedSeconds.toFixed(3)} s.`,
    {
      details: { path: output.path, expected_seconds: expectedSeconds, measured_seconds: seconds },
    },
  )
}

/** Why outputs are shorter than their source, whose packets are all there. */
export function whyShorter({ clockJumps = [], formats }: Pick<MediaInfo, 'clockJumps' | 'formats'>): string {
  const back = keepsJumps({ formats }) ? clockJumps.find(({ bySeconds }) => bySeconds < 0) : undefined
  if (back === undefined) return 'The source has packets for all of it, but not all can be decoded.'
  const place = `at ${back.atSeconds.toFixed(2)} s by ${(-back.bySeconds).toFixed(2)} s`
  return `The source’s clock goes back (${place}), and ffmpeg does not correct that in ASF and WMV: give it a continuous clock first, for example by converting it in the program that recorded it, or transcode the part before with end_seconds.`
}

/** A muxer writes a file without a word if no frame came for one of its streams. */
export function requireVideo(
  { path, profile }: Pick<PlannedFile, 'path' | 'profile'>,
  { video }: Pick<MediaInfo, 'video'>,
): void {
  if (profile !== null && video === null) throw new TaskError('output_incomplete', `${path} has no video.`)
}

/** This many packets without a length of their own are no rounding: their samples were put where others are. */
const SHORT_PACKETS = 8

/** `tracks`: of encoded audio (outputAnalysis/sampleTables.ts). */
export function requireUsualPackets(path: string, tracks: readonly { count: number; firstSeconds: number }[]): void {
  const broken = tracks.find(({ count }) => count > SHORT_PACKETS)
  if (broken === undefined) return
  throw new TaskError(
    'output_incomplete',
    `${path} has ${broken.count} packets of audio with almost no duration, from ${broken.firstSeconds.toFixed(3)} s on.`,
  )
}
