// In charge of: the coded frames of a stream as hashes with times, the same in every container: for comparing copies with
// their source.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { ffmpeg } from './media.ts'

export interface HashedPacket {
  /** Seconds. */
  time: number
  hash: string
}

/** Only slices, with start codes: parameter sets and delimiters differ between containers. */
const SLICES = {
  h264: 'h264_mp4toannexb,filter_units=pass_types=1-5',
  hevc: 'hevc_mp4toannexb,filter_units=pass_types=0-31',
  none: 'null',
} as const

/** In decoding order. */
export function videoPackets(path: string, codec: keyof typeof SLICES = 'h264'): Promise<HashedPacket[]> {
  return hashed(path, ['-map', '0:V:0', '-copyinkf', '-bsf:v', SLICES[codec]])
}

/** `isAdts`: AAC as in transport streams. */
export function audioPackets(path: string, isAdts = false): Promise<HashedPacket[]> {
  return hashed(path, ['-map', '0:a:0', '-copyinkf', ...(isAdts ? ['-bsf:a', 'aac_adtstoasc'] : [])])
}

/** Teletext and DVB subtitles. */
export function subtitlePackets(path: string): Promise<HashedPacket[]> {
  return hashed(path, ['-map', '0:s:0'])
}

async function hashed(path: string, selection: string[]): Promise<HashedPacket[]> {
  const text = await ffmpeg([
    ...['-i', path, ...selection, '-c', 'copy', '-copyts', '-avoid_negative_ts', 'disabled'],
    ...['-f', 'framehash', '-hash', 'md5', '-'],
  ])
  let tick = 0
  return text
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [, num, den] = /^#tb 0: (\d+)\/(\d+)/.exec(line) ?? []
      if (den !== undefined) tick = Number(num) / Number(den)
      const [, shown, hash] = /^0, *-?\d+, *(-?\d+), *\d+, *\d+, *([0-9a-f]{32})/.exec(line) ?? []
      return hash === undefined ? [] : [{ time: Number(shown) * tick, hash }]
    })
}
