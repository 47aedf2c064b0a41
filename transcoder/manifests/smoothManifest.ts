// In charge of: the manifest of Smooth Streaming ([MS-SSTR], 2.2.2), and the names of fragments, which the manifest
// defines.
// Not in charge of: the fragments' bytes.
import { SMOOTH_TIMESCALE } from '../formats/mp4/movieFragment.ts'
import { languageTag } from './presentation/languageTags.ts'
import type { AudioTrack, Presentation, Segment, VideoTrack } from './presentation/presentation.ts'
import { xmlDocument, element, type Xml } from '../formats/xml.ts'

/**
 * Path below `<name>.ism`. Clients build the same path from `Url`. `bitrate`: bits per second; `time`: ticks of 100 ns.
 */
export function smoothFragmentPath(bitrate: number, stream: string, time: number): string {
  return `QualityLevels(${bitrate})/Fragments(${stream}=${time})`
}

/**
 * Bits per second of each quality level, from the requested kilobits per second. Fragments are named by them before
 * anything is measured, and no two levels may share a name: a repeated bitrate is increased by one.
 */
export function smoothBitrates(kbps: readonly number[]): number[] {
  const used = new Set<number>()
  return kbps.map((asked) => {
    let bitrate = asked * 1000
    while (used.has(bitrate)) bitrate += 1
    used.add(bitrate)
    return bitrate
  })
}

interface SmoothLevel {
  track: VideoTrack | AudioTrack
  /** Path before the fragments' names: a directory with a trailing slash, or ''. */
  directory: string
  bitrate: number
  stream: string
}

const FRAGMENT = /^((?:[A-Za-z0-9_-]+\/)*)QualityLevels\((\d+)\)\/Fragments\(([A-Za-z0-9_]+)=(\d+)\)$/

/**
 * `<name>.ism/Manifest`. One stream for all rungs of video, and one audio stream for each name in the fragments. Throws
 * where a fragment's name differs from the one that a client would build, or where the levels of a stream are cut at
 * different times.
 */
export function smoothManifest(presentation: Presentation): string {
  const { video, audio } = presentation
  const streams = Map.groupBy([...video, ...audio].map(levelOf), ({ stream, track }) => `${track.kind} ${stream}`)
  const ends = [...video, ...audio].map(({ segments }) => endOf(segments))
  return xmlDocument(
    element(
      'SmoothStreamingMedia',
      { MajorVersion: 2, MinorVersion: 0, TimeScale: SMOOTH_TIMESCALE, Duration: Math.max(...ends) },
      [...streams.values()].map(streamIndex),
    ),
  )
}

function endOf(segments: readonly Segment[]): number {
  const last = segments.at(-1)
  return last === undefined ? 0 : last.start + last.duration
}

function levelOf(track: VideoTrack | AudioTrack): SmoothLevel {
  const [, directory, bitrate, stream] = FRAGMENT.exec(track.segments[0]?.uri ?? '') ?? []
  if (directory === undefined || bitrate === undefined || stream === undefined || track.timescale !== SMOOTH_TIMESCALE)
    throw new Error(`${track.id} does not consist of Smooth fragments.`)
  for (const { uri, start } of track.segments)
    if (uri !== directory + smoothFragmentPath(Number(bitrate), stream, start))
      throw new Error(`The fragment ${uri} begins at ${start}, which its address does not say.`)
  return { track, directory, bitrate: Number(bitrate), stream }
}

function streamIndex(levels: readonly SmoothLevel[]): Xml {
  const [{ track, directory, stream }] = levels as [SmoothLevel]
  const chunks = chunkTimes(track)
  const bitrates = new Set(levels.map(({ bitrate }) => bitrate))
  if (bitrates.size !== levels.length) throw new Error(`Two quality levels of ${stream} have the same bitrate.`)
  for (const level of levels)
    if (chunkTimes(level.track) !== chunks || level.directory !== directory)
      throw new Error(`${level.track.id} and ${track.id} have different segment boundaries.`)
  const shared = {
    Type: track.kind,
    Name: stream,
    TimeScale: SMOOTH_TIMESCALE,
    Chunks: track.segments.length,
    QualityLevels: levels.length,
    Url: `${directory}QualityLevels({bitrate})/Fragments(${stream}={start time})`,
  }
  const kindAttributes =
    track.kind === 'video' ? videoAttributes(levels) : { Language: languageTag(track.format.language) }
  return element('StreamIndex', { ...shared, ...kindAttributes }, [
    ...levels.map(qualityLevel),
    // 2.2.2.6: every start time is stated, so that clients need not add up durations.
    ...track.segments.map(({ start, duration }, n) => element('c', { n, t: start, d: duration })),
  ])
}

/**
 * Start times only, because clients build addresses from them. The last chunk of a lower frame rate may end up to a
 * frame earlier or later.
 */
function chunkTimes({ segments }: VideoTrack | AudioTrack): string {
  return segments.map(({ start }) => start).join(' ')
}

function videoAttributes(levels: readonly SmoothLevel[]): Xml['attributes'] {
  const tracks = levels.flatMap(({ track }) => (track.kind === 'video' ? [track] : []))
  const widest = tracks.toSorted((a, b) => b.height - a.height || b.width - a.width)[0]!
  return {
    MaxWidth: Math.max(...tracks.map(({ width }) => width)),
    MaxHeight: Math.max(...tracks.map(({ height }) => height)),
    DisplayWidth: Math.round((widest.width * widest.sar.num) / widest.sar.den),
    DisplayHeight: widest.height,
  }
}

function qualityLevel({ track, bitrate }: SmoothLevel, Index: number): Xml {
  const CodecPrivateData = track.codecPrivateData.toUpperCase()
  if (track.kind === 'video') {
    const { width: MaxWidth, height: MaxHeight } = track
    return element('QualityLevel', {
      Index,
      Bitrate: bitrate,
      FourCC: 'H264',
      MaxWidth,
      MaxHeight,
      CodecPrivateData,
      NALUnitLengthField: 4,
    })
  }
  const { channels, sampleRate, codec } = track.format
  return element('QualityLevel', {
    Index,
    Bitrate: bitrate,
    FourCC: codec === 'mp4a.40.2' ? 'AACL' : 'AACH',
    SamplingRate: sampleRate,
    Channels: channels,
    BitsPerSample: 16,
    PacketSize: channels * 2,
    // 2.2.2.5: 255 = described by FourCC.
    AudioTag: 255,
    CodecPrivateData,
  })
}
