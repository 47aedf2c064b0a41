// In charge of: a source with everything that players show: a flash and a beep in each second, captions, an ad break
// announced by a cue.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFile, writeFile } from 'node:fs/promises'
import type { Cue } from '../../../transcoder/formats/scte35/cueScan.ts'
import { insertCaptions } from '../captions/captionedClip.ts'
import { ffmpeg, lavfi } from './media.ts'
import { cueAtSeconds, insertCues } from '../mpegts/cueClips.ts'
import { spliceInsert } from '../mpegts/spliceSections.ts'

export const PLAYER_CLIP = {
  rate: 25,
  seconds: 8,
  /** Offset of flash and beep within each second. */
  flash: 0.2,
  /** How long the frames are white, in seconds. */
  flashed: 0.4,
  /** Erased before the first segment ends: Shaka Player removes visible captions when the rendition changes. */
  caption: 'SPLICEPOINT',
  splice: 3.04,
  back: 5.52,
} as const

/** `secondsShown`: number of frames for which the caption is shown. `gop`: arguments of the encoder. */
export async function makePlayerClip(
  file: (name: string) => string,
  secondsShown = 15,
  gop: readonly string[] = [],
): Promise<string> {
  const cue = spliceInsert({
    eventId: 77,
    out: true,
    pts: Math.round(PLAYER_CLIP.splice * 90_000),
    breakTicks: Math.round((PLAYER_CLIP.back - PLAYER_CLIP.splice) * 90_000),
    autoReturn: true,
  })
  return makeFlashClip(file, {
    seconds: PLAYER_CLIP.seconds,
    gop,
    addCaptions: (video) => insertCaptions(video, PLAYER_CLIP.caption, secondsShown),
    cues: [cueAtSeconds(0.4, cue)],
  })
}

/** Another clip of this kind. `addCaptions` gets the video: one slice per frame, no B-frames. */
export async function makeFlashClip(
  file: (name: string) => string,
  clip: { seconds: number; gop?: readonly string[]; addCaptions: (video: Buffer) => Buffer; cues: readonly Cue[] },
): Promise<string> {
  const [bare, said, plain, path] = [file('bare.h264'), file('said.h264'), file('plain.ts'), file('rich.ts')]
  const { rate, flash, flashed } = PLAYER_CLIP
  const { seconds, gop = [], addCaptions, cues } = clip
  const first = Math.round(rate * flash)
  const last = first + Math.round(rate * flashed) - 1
  const picture = `testsrc2=s=320x180:r=${rate}:d=${seconds},drawbox=c=black:t=fill,drawbox=c=white:t=fill:enable='between(mod(n,${rate}),${first},${last})'`
  const audio = `aevalsrc=exprs='0.7*sin(2*PI*1000*t)*between(mod(t,1),${flash},${flash + 0.08})':s=48000:d=${seconds}`
  // One slice per frame and no B-frames: the order of the messages is the order of the frames.
  const encoder = '-c:v libx264 -preset ultrafast -bf 0 -x264-params slices=1 -threads 1 -pix_fmt yuv420p'.split(' ')
  await ffmpeg([...lavfi(picture), ...encoder, ...gop, '-y', bare])
  await writeFile(said, addCaptions(await readFile(bare)))
  await ffmpeg([
    ...['-r', String(rate), '-f', 'h264', '-i', said, '-f', 'lavfi', '-i', audio],
    ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'mp2', '-b:a', '192k', '-y', plain],
  ])
  await writeFile(path, insertCues(await readFile(plain), cues, 600))
  return path
}
