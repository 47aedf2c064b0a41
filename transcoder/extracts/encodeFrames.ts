// In charge of: the runs of ffmpeg that make an AVIF of a lossless image, and an animated preview of raw frames.
// Not in charge of: reading the frames from the source (argv/extractArgs.ts), storing the files (extractor.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../attempt.ts'
import { explainExit } from '../ffmpeg/exit.ts'
import { runFfmpeg } from '../ffmpeg/run.ts'
import type { AnimatedPreviewPlan } from '#contract/task/plan/extractsPlan.ts'

const STALL_MS = 120_000
/** Far larger than any still or preview. */
const LARGEST_BYTES = 512 * 1024 * 1024

export async function encodeAvif(attempt: Attempt, from: string, to: string, quality: number): Promise<void> {
  await run(attempt, 'encode a still', to, [
    ...only('png_pipe', 'png'),
    ...['-f', 'png_pipe', '-i', `file:${from}`, '-frames:v', '1'],
    ...['-vf', 'scale=out_color_matrix=bt709:out_range=full:flags=accurate_rnd+full_chroma_int,format=yuv420p'],
    ...['-c:v', 'libaom-av1', '-still-picture', '1', '-cpu-used', '6', '-row-mt', '1'],
    // 0 = best to 63.
    ...['-b:v', '0', '-crf', `${Math.round(((100 - quality) * 63) / 100)}`],
    ...['-color_range', 'pc', '-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'iec61966-2-1'],
    ...['-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'avif'],
  ])
}

export async function encodePreview(
  attempt: Attempt,
  { format, width, height, framesPerSecond }: AnimatedPreviewPlan,
  from: string,
  to: string,
): Promise<void> {
  await run(attempt, 'encode the preview', to, [
    ...only('rawvideo', 'rawvideo'),
    ...['-f', 'rawvideo', '-pixel_format', 'rgb24', '-video_size', `${width}x${height}`],
    ...['-framerate', `${Number(framesPerSecond.toFixed(6))}`, '-i', `file:${from}`],
    ...ANIMATIONS[format],
    ...['-map_metadata', '-1', '-fflags', '+bitexact'],
    ...(format === 'mp4' ? ['-movflags', '+faststart'] : ['-loop', '0']),
    ...['-f', format],
  ])
}

const ANIMATIONS: Readonly<Record<AnimatedPreviewPlan['format'], readonly string[]>> = {
  mp4: [
    ...['-vf', 'scale=out_color_matrix=bt709:out_range=limited,format=yuv420p'],
    ...['-c:v', 'libx264', '-preset', 'medium', '-crf', '26', '-profile:v', 'main', '-flags:v', '+bitexact'],
    ...['-color_range', 'tv', '-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'],
  ],
  // One palette for all frames, made of those frames.
  gif: ['-filter_complex', '[0:v]split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=sierra2_4a'],
  webp: [
    ...['-vf', 'scale=out_color_matrix=bt601:out_range=limited,format=yuv420p'],
    ...['-c:v', 'libwebp_anim', '-quality', '70', '-compression_level', '4'],
  ],
}

/** One local file, one demuxer, one decoder. */
function only(demuxer: string, decoder: string): string[] {
  return ['-protocol_whitelist', 'file', '-format_whitelist', demuxer, '-codec_whitelist', decoder]
}

async function run(attempt: Attempt, purpose: string, to: string, args: readonly string[]): Promise<void> {
  const { engine, workspace, settings, controller } = attempt
  const threads = settings.threads > 0 ? ['-threads', `${settings.threads}`] : []
  const result = await runFfmpeg(
    engine,
    [
      ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'level+warning', '-nostats', '-progress', 'pipe:1'],
      ...threads,
      ...args,
      ...threads,
      `file:${to}`,
    ],
    {
      cwd: workspace.cwd,
      purpose,
      signal: controller.signal,
      stallMs: STALL_MS,
      outputFiles: [to],
      limits: { fileBytes: LARGEST_BYTES },
    },
  )
  controller.signal.throwIfAborted()
  if (result.ended === 'stalled') throw new TaskError('no_progress', `ffmpeg made no progress: ${purpose}.`)
  const failure = explainExit(result)
  if (failure !== null) throw new TaskError(failure.code, failure.message)
}
