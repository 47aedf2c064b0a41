// In charge of: the source of the ladder benchmark: 30 s of 1080p25 at 15 Mb/s with detail, gradients, motion, grain
// and audio.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { cached, ffmpeg } from './ffmpeg.ts'

export const CLIP = { seconds: 30, frames: 750, width: 1920, height: 1080 }

export function makeClip(program: string): Promise<string> {
  const size = `size=${CLIP.width}x${CLIP.height}:rate=25`
  return cached('clip-1080p25-15M.mp4', (path) =>
    ffmpeg(program, [
      ...['-loglevel', 'error'],
      // A zoom into fine structure, blended with drifting colours.
      ...['-f', 'lavfi', '-i', `mandelbrot=${size}:maxiter=400:start_scale=3:end_scale=0.02:end_pts=${CLIP.frames}`],
      ...['-f', 'lavfi', '-i', `gradients=${size}:speed=0.02:n=6:seed=4`],
      ...['-f', 'lavfi', '-i', 'anoisesrc=color=pink:sample_rate=48000:amplitude=0.2:seed=5'],
      ...['-f', 'lavfi', '-i', 'sine=frequency=330:beep_factor=3:sample_rate=48000'],
      '-filter_complex',
      [
        '[0:v]format=yuv420p[fine]',
        '[1:v]format=yuv420p[smooth]',
        // Temporal noise imitates the grain of a sensor.
        '[fine][smooth]blend=all_mode=average,noise=alls=5:allf=t:all_seed=6[v]',
        '[2:a][3:a]amix,aformat=channel_layouts=stereo[a]',
      ].join(';'),
      ...['-map', '[v]', '-map', '[a]', '-t', `${CLIP.seconds}`],
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-b:v', '15M', '-maxrate', '20M', '-bufsize', '30M', '-g', '50'],
      ...['-c:a', 'aac', '-b:a', '192k', '-f', 'mp4', path],
    ]),
  )
}
