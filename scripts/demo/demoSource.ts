// In charge of: the source of the demo, a file that the user names or a generated clip, and probing it.
// Not in charge of: the job (../demo.ts).
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { MAX_RESUMABLE_BYTES } from '#contract/limits.ts'
import type { Engine } from '../../transcoder/ffmpeg/locate.ts'
import { STARTED_FROM } from '../local/localSettings.ts'

const run = promisify(execFile)
const CLIP_SECONDS = 10

export interface DemoSource {
  path: string
  name: string
  /** Display size, after rotation. */
  width: number
  height: number
  /** null if the container does not state it. */
  seconds: number | null
  hasAudio: boolean
}

/** Checks the file before anything is started. @throws Error with a message for people */
export async function requireFile(name: string): Promise<string> {
  const path = resolve(STARTED_FROM, name)
  const found = await stat(path).catch(() => null)
  if (found === null) throw new Error(`File not found: ${path}`)
  if (!found.isFile()) throw new Error(`${path} is not a file.`)
  if (found.size === 0) throw new Error(`${path} is empty.`)
  if (found.size > MAX_RESUMABLE_BYTES) {
    throw new Error(
      `${path} has ${Math.ceil(found.size / 1e9)} GB; an upload has at most ${MAX_RESUMABLE_BYTES / 1e9} GB.`,
    )
  }
  return path
}

/** Ten seconds with moving frames, a running clock and a tone with beeps. testsrc2 draws its clock without a font. */
export async function createDemoClip(engine: Engine, directory: string): Promise<string> {
  const path = join(directory, 'clip.mp4')
  const args = [
    ['-nostdin', '-v', 'error', '-y'],
    ['-f', 'lavfi', '-i', `testsrc2=size=1280x720:rate=25:duration=${CLIP_SECONDS}`],
    ['-f', 'lavfi', '-i', `sine=frequency=220:beep_factor=4:sample_rate=48000:duration=${CLIP_SECONDS}`],
    ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-pix_fmt', 'yuv420p'],
    ['-af', 'aformat=channel_layouts=stereo', '-c:a', 'aac', '-b:a', '128k', path],
  ]
  await run(engine.ffmpeg, args.flat())
  return path
}

interface Probe {
  streams: {
    codec_type: string
    width?: number
    height?: number
    duration?: string
    disposition?: { attached_pic?: number }
    side_data_list?: { rotation?: number }[]
  }[]
  format?: { duration?: string }
}

/** @throws Error with a message for people if the file is not a video */
export async function probeDemoSource(engine: Engine, path: string): Promise<DemoSource> {
  const args = ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', `file:${path}`]
  const probe = await run(engine.ffprobe, args, { maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => JSON.parse(stdout) as Probe,
    () => null,
  )
  const video = probe?.streams.find((one) => one.codec_type === 'video' && one.disposition?.attached_pic !== 1)
  if (!probe || !video?.width || !video.height) throw new Error(`${path} is not a video that ffmpeg can read.`)
  const quarterTurn = (video.side_data_list ?? []).some(({ rotation = 0 }) => Math.abs(rotation % 180) === 90)
  const seconds = Number(video.duration ?? probe.format?.duration)
  return {
    path,
    name: basename(path),
    width: quarterTurn ? video.height : video.width,
    height: quarterTurn ? video.width : video.height,
    seconds: seconds > 0 ? seconds : null,
    hasAudio: probe.streams.some((one) => one.codec_type === 'audio'),
  }
}
