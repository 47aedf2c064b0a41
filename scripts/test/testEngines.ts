// In charge of: which ffmpeg tests run. First the one that is named, else npm's, where it is installed: a start takes 25 ms
// of processor time, where Debian's loads 200 libraries in 160. CI repeats what depends on the version with this machine's own
// (scripts/test.ts), which is the oldest one that is supported and the one in the image; long forms run that one alone.
// Not in charge of: whether they can be used (transcoder/ffmpeg/locate.ts).
import { bundledFfmpeg, bundledFfprobe } from '../../transcoder/ffmpeg/locate.ts'
import { findOnPath } from '../../transcoder/ffmpeg/sandbox.ts'

type EnginePaths = Record<'FFMPEG_PATH' | 'FFPROBE_PATH', string>

/** This machine's own; empty where it has none. */
export async function machineEngine(): Promise<EnginePaths> {
  return { FFMPEG_PATH: (await findOnPath('ffmpeg')) ?? '', FFPROBE_PATH: (await findOnPath('ffprobe')) ?? '' }
}

export async function firstEngine(longForm: boolean): Promise<EnginePaths> {
  const { FFMPEG_PATH, FFPROBE_PATH } = process.env
  const own = await machineEngine()
  const npm = longForm ? null : { ffmpeg: await bundledFfmpeg(), ffprobe: await bundledFfprobe() }
  return {
    FFMPEG_PATH: FFMPEG_PATH || npm?.ffmpeg || own.FFMPEG_PATH,
    FFPROBE_PATH: FFPROBE_PATH || npm?.ffprobe || own.FFPROBE_PATH,
  }
}
