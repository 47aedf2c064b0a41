// In charge of: the source of the validated jobs: moving video, two audio streams, CEA-608 captions and an ad break
// announced by a cue.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFile, writeFile } from 'node:fs/promises'
import { insertCaptions } from '../../support/captions/captionedClip.ts'
import { ffmpeg } from '../../support/media/media.ts'
import { cueAtSeconds, insertCues } from '../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../support/mpegts/spliceSections.ts'
import { insertTeletext } from '../../support/mpegts/teletextStream.ts'

export const SOURCE_CLIP = {
  rate: 25,
  seconds: 6,
  width: 640,
  height: 360,
  caption: 'SPLICEPOINT',
  eventId: 77,
  splice: 3.04,
  back: 4.52,
} as const

/** A transport stream: H.264, AC-3 5.1, MPEG audio stereo, cues. */
export async function makeSourceClip(file: (name: string) => string): Promise<string> {
  const [bare, captioned, plain, path] = [
    file('bare.h264'),
    file('captioned.h264'),
    file('plain.ts'),
    file('source.ts'),
  ]
  const { rate, seconds, width, height, eventId, splice, back } = SOURCE_CLIP
  const picture = `testsrc2=s=${width}x${height}:r=${rate}:d=${seconds},noise=alls=12:allf=t`
  // A different tone in each channel at -23 dBFS, and noise, so that no channel can be mistaken for another.
  const tones = [440, 660, 880, 80, 1100, 1320].map((pitch) => `0.07*sin(2*PI*${pitch}*t)+0.002*random(0)`)
  const surround = `aevalsrc=exprs='${tones.join('|')}':c=5.1:s=48000:d=${seconds}`
  const stereo = `aevalsrc=exprs='${tones.slice(0, 2).join('|')}':c=stereo:s=48000:d=${seconds}`
  // One slice per frame and no B-frames: the order of the messages is the order of the frames.
  const encoder = '-c:v libx264 -preset ultrafast -bf 0 -x264-params slices=1 -threads 1 -pix_fmt yuv420p'.split(' ')
  await ffmpeg(['-f', 'lavfi', '-i', picture, ...encoder, '-g', '25', '-b:v', '3000k', bare])
  await writeFile(captioned, insertCaptions(await readFile(bare), SOURCE_CLIP.caption, 40))
  await ffmpeg([
    ...['-r', String(rate), '-f', 'h264', '-i', captioned],
    ...['-f', 'lavfi', '-i', surround, '-f', 'lavfi', '-i', stereo],
    ...['-map', '0:v', '-map', '1:a', '-map', '2:a', '-c:v', 'copy'],
    ...['-c:a:0', 'ac3', '-b:a:0', '384k', '-c:a:1', 'mp2', '-b:a:1', '192k', plain],
  ])
  const cue = spliceInsert({
    eventId,
    out: true,
    pts: Math.round(splice * 90_000),
    breakTicks: Math.round((back - splice) * 90_000),
    autoReturn: true,
  })
  await writeFile(path, insertCues(await readFile(plain), [cueAtSeconds(0.4, cue)], 600))
  return path
}

/** PAL: 576 lines, interlaced, 16:9, tagged as BT.470BG, with AC-3 5.1 and teletext. */
export async function makePalClip(file: (name: string) => string): Promise<string> {
  const [plain, path] = [file('pal-plain.ts'), file('pal.ts')]
  const { seconds } = SOURCE_CLIP
  await ffmpeg([
    ...['-f', 'lavfi', '-i', `testsrc2=s=720x576:r=50:d=${seconds}`],
    ...['-f', 'lavfi', '-i', `anoisesrc=d=${seconds}:r=48000:a=0.1,aformat=channel_layouts=5.1`],
    ...['-vf', 'tinterlace=interleave_top,setsar=64/45,setfield=tff', '-c:v', 'mpeg2video', '-flags', '+ilme+ildct'],
    ...['-b:v', '4000k', '-maxrate', '4000k', '-bufsize', '1835008', '-g', '12', '-bf', '2'],
    ...['-colorspace', 'bt470bg', '-color_primaries', 'bt470bg', '-color_trc', 'gamma28'],
    ...['-c:a', 'ac3', '-b:a', '384k', '-metadata:s:a', 'language=deu', '-f', 'mpegts', plain],
  ])
  await writeFile(path, insertTeletext(await readFile(plain), 0x200))
  return path
}
