// In charge of: whether the display aspect ratio of MPEG-2 video changes between 4:3 and 16:9, as at adverts. ffmpeg 7 does not
// follow that in a transport or program stream: it gives every frame the sample aspect of the first one.
// Not in charge of: changes of the size, which it follows (docs/sources.md).
import type { MediaInfo, VideoStream } from '../plan/model/mediaInfo.ts'
import type { ReadBytes } from './transportSeek.ts'

/** aspect_ratio_information (ISO/IEC 13818-2, table 6-3). */
const RATIOS = [null, '1:1 samples', '4:3', '16:9', '2.21:1']
const SEQUENCE_HEADER = Buffer.from([0, 0, 1, 0xb3])
/** From the start code to the byte of the ratio. */
const RATIO_AT = 7
/** Places that are looked at. Sequences come twice a second: at 15 Mbps, one in a megabyte. */
const LOOKS = 9
const LOOK_BYTES = 512 * 1024

/** The source with the ratios that a few looks at it find, the first one first, if there are several. */
export async function withDisplayRatios(
  media: MediaInfo,
  { read, size }: { read: ReadBytes; size: number | null },
): Promise<MediaInfo> {
  const { video, formats } = media
  if (video?.codec !== 'mpeg2video' || size === null || !formats.some((format) => format.startsWith('mpeg')))
    return media
  const last = Math.max(0, size - LOOK_BYTES)
  const places = new Set(Array.from({ length: LOOKS }, (_, look) => Math.floor((last * look) / (LOOKS - 1))))
  const ratios = new Set<string>()
  for (const at of places)
    for (const ratio of ratiosIn(await read(at, Math.min(LOOK_BYTES, size - at)), video)) ratios.add(ratio)
  return ratios.size < 2 ? media : { ...media, video: { ...video, displayRatios: [...ratios] } }
}

/** Of its sequence headers; one that packets divide is left out. */
function ratiosIn(bytes: Uint8Array, { width, height }: Pick<VideoStream, 'width' | 'height'>): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found: string[] = []
  for (let at = buffer.indexOf(SEQUENCE_HEADER); at >= 0; at = buffer.indexOf(SEQUENCE_HEADER, at + 1)) {
    if (at + RATIO_AT >= buffer.length) break
    // 12 bits each. Other streams may have these bytes by chance.
    if (buffer.readUIntBE(at + 4, 3) !== (width << 12) + height) continue
    const ratio = RATIOS[buffer[at + RATIO_AT]! >> 4]
    if (ratio != null) found.push(ratio)
  }
  return found
}
