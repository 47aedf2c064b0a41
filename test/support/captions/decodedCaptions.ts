// In charge of: the closed captions of a file, as text and by channel.
// Not in charge of: expectations.
import { copyFile } from 'node:fs/promises'
import { captionChannels } from '../../../transcoder/formats/cea/channelScan.ts'
import type { VideoCodec } from '#contract/codecs.ts'
import { readUserData } from '../../../transcoder/formats/video/userData.ts'
import { ffmpeg, tempDirectory, lavfi } from '../media/media.ts'

export interface CaptionCue {
  seconds: number[]
  text: string
}

/** What ffmpeg's own CEA-608 decoder reads, without styling. */
export async function readCaptions(path: string): Promise<CaptionCue[]> {
  // The movie filter has its own quoting rules; a plain file name needs no quoting.
  await using tempDir = await tempDirectory()
  const plain = tempDir.file('read.bin')
  await copyFile(path, plain)
  const text = await ffmpeg([...lavfi(`movie=${plain}[out0+subcc]`), '-map', '0:s', '-f', 'srt', '-'])
  const blocks = text
    .toString('utf8')
    .trim()
    .split(/\n\n(?=\d+\n)/)
  return blocks.map((block) => {
    const [, times = '', ...lines] = block.split('\n')
    const seconds = times.split(' --> ').map((time) => {
      const [hours, minutes, rest] = time.replace(',', '.').split(':').map(Number)
      return hours! * 3600 + minutes! * 60 + rest!
    })
    return { seconds, text: lines.join('\n').replaceAll(/<[^>]*>|\{[^}]*\}/g, '') }
  })
}

/** What our own reader finds in the written file: the channels, and whether any caption data is left. */
export async function carriedCaptionChannels(
  path: string,
  codec: VideoCodec,
): Promise<{ pictures: number; channels: string[] }> {
  const format = codec === 'mpeg2' ? 'mpeg2video' : codec
  const { captions } = readUserData(await ffmpeg(['-i', path, '-map', '0:V:0', '-c', 'copy', '-f', format, '-']), codec)
  return { pictures: captions.length, channels: captionChannels(captions) }
}
