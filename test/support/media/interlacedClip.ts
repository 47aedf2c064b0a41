// In charge of: a clip whose fields differ in content, and measuring them in an output.
// Not in charge of: expectations.
import { decodeRaw, ffmpeg, probeStream, lavfi } from './media.ts'

/** A white bar that moves by 2 pixels from field to field, at 50 fields per second. */
export async function makeMovingBar(path: string, order: 'top' | 'bottom', flags: string[] = []): Promise<string> {
  const bar = 'color=black:s=320x180:r=50:d=2[b];color=white:s=16x180:r=50:d=2[w];[b][w]overlay=x=20+2*n'
  const picture = `${bar},format=yuv420p,tinterlace=mode=interleave_${order}`
  const coding = ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '6M', ...flags]
  await ffmpeg([...lavfi(picture), ...coding, path])
  return path
}

/** Position of the bar in each field, in time order, in thousandths of the width. */
export async function barPositions(path: string): Promise<number[]> {
  const { width, height } = await probeStream(path, 'video')
  const raw = await decodeRaw(path, 'gray', ['-vf', 'separatefields'])
  const size = (width * height) / 2
  return Array.from({ length: raw.length / size }, (_, index) => {
    // The middle line; the bar is the bright part.
    const at = index * size + Math.floor(height / 4) * width
    const bright = [...raw.subarray(at, at + width)].flatMap((value, x) => (value > 128 ? [x + 0.5] : []))
    return (1000 * bright.reduce((sum, x) => sum + x, 0)) / bright.length / width
  })
}
