// In charge of: the CEA-608 byte pairs in the frames of a file, in the order in which the frames are shown.
// Not in charge of: decoding them (decodedCaptions.ts).
import type { VideoCodec } from '#contract/codecs.ts'
import { readUserData } from '../../../transcoder/formats/video/userData.ts'
import { ffmpeg, readPackets } from '../media/media.ts'

export interface FrameCaptions {
  /** Triplets of the frame. */
  count: number
  /** By field: pairs as four hexadecimal digits, with parity. */
  pairs: [string[], string[]]
}

export async function frameCaptions(path: string, codec: VideoCodec): Promise<FrameCaptions[]> {
  const format = codec === 'mpeg2' ? 'mpeg2video' : codec
  const stream = await ffmpeg(['-i', path, '-map', '0:V:0', '-c', 'copy', '-f', format, '-'])
  const { captions } = readUserData(stream, codec)
  const times = (await readPackets(path)).map(({ pts_time: time }) => Number(time))
  if (captions.length !== times.length) throw new Error(`${captions.length} of ${times.length} frames have captions`)
  const shown = [...times.keys()].toSorted((a, b) => times[a]! - times[b]!)
  return shown.map((coded) => triplets(captions[coded]!))
}

function triplets(ccData: Uint8Array): FrameCaptions {
  const found: FrameCaptions = { count: ccData.length / 3, pairs: [[], []] }
  for (let at = 0; at < ccData.length; at += 3) {
    const field = ccData[at]! - 0xfc
    if (field === 0 || field === 1)
      found.pairs[field].push(Buffer.from(ccData.subarray(at + 1, at + 3)).toString('hex'))
  }
  return found
}

/** Pairs that are not empty, with the frame in which they are. */
export function sentPairs(frames: readonly FrameCaptions[], field: 0 | 1): { frame: number; pair: string }[] {
  return frames.flatMap(({ pairs }, frame) =>
    pairs[field].filter((pair) => pair !== '8080').map((pair) => ({ frame, pair })),
  )
}
