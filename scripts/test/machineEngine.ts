// In charge of: which ffmpeg tests run: the one that is named, else this machine's own, which in CI is the oldest version that
// is supported. A service would choose npm's where that is newer; CI names it for a second run (scripts/test.ts).
// Not in charge of: whether it can be used (transcoder/ffmpeg/locate.ts).
import { findOnPath } from '../../transcoder/ffmpeg/sandbox.ts'

export async function machineEngine(): Promise<Record<'FFMPEG_PATH' | 'FFPROBE_PATH', string>> {
  const { FFMPEG_PATH, FFPROBE_PATH } = process.env
  return {
    FFMPEG_PATH: FFMPEG_PATH || ((await findOnPath('ffmpeg')) ?? ''),
    FFPROBE_PATH: FFPROBE_PATH || ((await findOnPath('ffprobe')) ?? ''),
  }
}
