// In charge of: converting a job's logo into a PNG in the workspace, so that untrusted image data reaches only one
// decoder, in a process of its own.
// Not in charge of: fetching it from its server (the Worker), its position in the frame (plan/video/logoPlacement.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MAX_LOGO_BYTES, MAX_LOGO_PIXELS } from '#contract/limits.ts'
import { imageType, type ImageType } from '#contract/formats/imageType.ts'
import { TaskError } from '#contract/taskError.ts'
import { runFfmpeg, type FfmpegPrograms } from '../ffmpeg/run.ts'
import type { LogoImage } from '../plan/model/mediaInfo.ts'
import type { Workspace } from '../workspace.ts'

const formats: Record<ImageType, { demuxer: string; decoder: string }> = {
  'image/png': { demuxer: 'png_pipe', decoder: 'png' },
  'image/jpeg': { demuxer: 'jpeg_pipe', decoder: 'mjpeg' },
  'image/webp': { demuxer: 'webp_pipe', decoder: 'webp' },
}
const STALL_MS = 20_000
/** RGBA; a PNG can be slightly larger than its pixels. */
const LIMITS = { fileBytes: MAX_LOGO_PIXELS * 5, cpuSeconds: 60 }

/** The path of the converted logo. */
export function logoPath(workspace: Workspace): string {
  return join(workspace.root, 'logo.png')
}

/** Decodes the logo and writes it as a PNG; returns its size. Throws TaskError logo_unavailable. */
export async function convertLogo(
  engine: FfmpegPrograms,
  bytes: Uint8Array,
  workspace: Workspace,
  signal?: AbortSignal,
): Promise<LogoImage> {
  const type = imageType(bytes)
  if (type === null || bytes.length > MAX_LOGO_BYTES) throw unusable('It is neither PNG nor JPEG nor WebP.')
  const given = join(workspace.root, 'logo.given')
  const made = logoPath(workspace)
  await writeFile(given, bytes)
  try {
    const { demuxer, decoder } = formats[type]
    const result = await runFfmpeg(
      engine,
      [
        ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'level+warning', '-nostats', '-progress', 'pipe:1'],
        // One local file, one demuxer, one decoder; a broken image is an error, not a partial image.
        ...['-protocol_whitelist', 'file', '-format_whitelist', demuxer, '-codec_whitelist', decoder],
        ...['-max_pixels', `${MAX_LOGO_PIXELS}`, '-max_alloc', '268435456', '-err_detect', 'explode', '-xerror'],
        ...['-f', demuxer, '-i', `file:${given}`],
        ...['-map', '0:v:0', '-frames:v', '1', '-vf', 'format=rgba', '-map_metadata', '-1', '-fflags', '+bitexact'],
        ...['-c:v', 'png', '-update', '1', '-f', 'image2', `file:${made}`],
      ],
      {
        cwd: workspace.cwd,
        purpose: 'decode the logo',
        outputFiles: [made],
        limits: LIMITS,
        stallMs: STALL_MS,
        ...(signal === undefined ? {} : { signal }),
      },
    )
    signal?.throwIfAborted()
    const png = result.code === 0 ? await readFile(made).catch(() => null) : null
    if (png === null || png.length < 24 || imageType(png) !== 'image/png')
      throw unusable(`It cannot be decoded, or has more than ${MAX_LOGO_PIXELS} pixels.`)
    // IHDR is the first chunk of every PNG; this one was written by our own ffmpeg.
    return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
  } finally {
    await rm(given, { force: true })
  }
}

function unusable(why: string): TaskError {
  return new TaskError('logo_unavailable', `The logo cannot be used. ${why}`, { field: 'logo_url' })
}
