// In charge of: what is said of a source whose video streams have no picture that could be decoded.
import type { MediaInfo } from './mediaInfo.ts'

/** Their decoder parameters are in the stream, in front of a key frame; elsewhere the container has them. */
const WITH_PARAMETER_SETS: ReadonlySet<string> = new Set(['h264', 'hevc'])

/** What the source has instead of video, after "has"; null = it declares no video stream. */
export function undecodableVideo({ other }: Pick<MediaInfo, 'other'>): string | null {
  const codecs = other.filter(({ type }) => type === 'video').map(({ codec }) => codec)
  if (codecs.length === 0) return null
  const declared = `no picture that can be decoded (it declares ${codecs.length} video ${codecs.length === 1 ? 'stream' : 'streams'}, ${codecs.join(', ')}`
  return codecs.every((codec) => WITH_PARAMETER_SETS.has(codec))
    ? `${declared}, without parameter sets: it was cut where there is no key frame, or its key frames are damaged)`
    : `${declared})`
}
