// In charge of: adaptation sets and their representations: video by codec, every audio track, captions as files,
// thumbnails.
// Not in charge of: the addresses of segments (segmentAddressing.ts), the rest of the MPD (mpd.ts).
import type { AudioPurpose } from '#contract/job/jobSpec.ts'
import { audioRenditions } from '../presentation/audioGroups.ts'
import { trackLanguage } from '../../formats/mp4/trackLanguage.ts'
import { embeddedCaptionChannels } from '../presentation/embeddedCaptions.ts'
import { numbering, type Addressing } from './segmentAddressing.ts'
import { languageTag } from '../presentation/languageTags.ts'
import type {
  AudioFormat,
  AudioTrack,
  Presentation,
  TextTrack,
  ThumbnailTrack,
  VideoTrack,
} from '../presentation/presentation.ts'
import { multiply, ratio, toNumber } from '../../formats/rational.ts'
import { averageRate, microseconds, peakRate } from '../presentation/segmentBitrates.ts'
import { joinPath, encodeUriPath } from '../presentation/relativeUri.ts'
import { element, type Xml } from '../../formats/xml.ts'

const ROLE = 'urn:mpeg:dash:role:2011'
/** DASH-IF IOP, 6.2.6. dash.js and Shaka Player both support this scheme. */
const TILES = 'http://dashif.org/guidelines/thumbnail_tile'
/** ISO/IEC 23091-2 (CICP) values that DASH-IF IOP specifies for HDR: primaries, transfer, matrix. */
const COLORS = { SDR: null, PQ: [9, 16, 9], HLG: [9, 18, 9] } as const
const CICP = ['ColourPrimaries', 'TransferCharacteristics', 'MatrixCoefficients'] as const

/** DASH-IF IOP 3.8: a player may switch between this set and the sets with these ids as if they were one. */
const SWITCHING = 'urn:mpeg:dash:adaptation-set-switching:2016'

export interface VideoSet {
  id: number
  tracks: VideoTrack[]
  xml: Xml
}

/** One set for each codec, dynamic range and audio selection: subsets can combine audio only with whole sets. */
export function videoSets(presentation: Presentation, addressing: Addressing): VideoSet[] {
  const kind = ({ codecs, range }: VideoTrack) => `${codecs[0]?.split('.')[0]} ${range}`
  const kinds = Map.groupBy(presentation.video, (track) => `${kind(track)} ${track.audioTracks.toSorted().join(' ')}`)
  const sets = [...kinds.values()]
  return sets.map((tracks, id) => {
    const first = tracks[0]!
    const shapes = new Set(tracks.map((track) => sampleAspectText(track)))
    const fastest = tracks.toSorted((a, b) => toNumber(b.frameRate) - toNumber(a.frameRate))[0]!
    const alike = sets.flatMap((others, at) => (at !== id && kind(others[0]!) === kind(first) ? [at] : []))
    const switching = alike.length === 0 ? [] : [property(SWITCHING, alike.join(','))]
    const xml = element(
      'AdaptationSet',
      {
        id,
        contentType: 'video',
        mimeType: 'video/mp4',
        segmentAlignment: areAligned(tracks),
        startWithSAP: 1,
        maxWidth: Math.max(...tracks.map(({ width }) => width)),
        maxHeight: Math.max(...tracks.map(({ height }) => height)),
        maxFrameRate: frameRateText(fastest),
        par: shapes.size === 1 ? sampleAspectText(first) : null,
      },
      [
        ...color(first),
        ...switching,
        ...accessibility(tracks, presentation),
        role('main'),
        ...tracks.map(representation),
      ],
    )
    return { id, tracks, xml }
  })

  function representation(track: VideoTrack): Xml {
    const attributes = {
      id: track.id,
      bandwidth: peakRate(track),
      codecs: track.codecs.join(','),
      width: track.width,
      height: track.height,
      frameRate: frameRateText(track),
      sar: `${track.sar.num}:${track.sar.den}`,
    }
    return element('Representation', attributes, [addressing(track)])
  }
}

/**
 * ISO/IEC 23009-1, 5.3.8: the sets that may be presented together, where video profiles select different audio; else
 * none. `common`: ids of the sets that belong to every subset.
 */
export function subsets(
  videos: readonly VideoSet[],
  audio: readonly { id: number; track: AudioTrack }[],
  common: readonly number[],
): Xml[] {
  const selections = videos.map(({ tracks }) => tracks[0]!.audioTracks)
  if (new Set(selections.map((ids) => ids.toSorted().join(' '))).size < 2) return []
  return videos.map(({ id }, at) => {
    const inSelection = audio.filter(({ track }) => selections[at]!.includes(track.id))
    return element('Subset', { contains: [id, ...inSelection.map((each) => each.id), ...common].join(' ') })
  })
}

/**
 * Audio tracks by adaptation set. With video each has its own, because players choose audio once. Without video, a
 * player switches between the bitrates of one codec.
 */
export function audioSets({ video, audio }: Presentation): AudioTrack[][] {
  if (video.length > 0) return audio.map((track) => [track])
  const kind = ({ format }: AudioTrack) => `${format.codec} ${format.channels} ${format.sampleRate}`
  return audioRenditions(audio).flatMap(({ tracks }) => [
    ...Map.groupBy(
      tracks.toSorted((a, b) => a.profile - b.profile),
      kind,
    ).values(),
  ])
}

/** ETSI TS 103 285 (DVB-DASH), 6.1.2. */
const AUDIO_PURPOSES: Readonly<Partial<Record<AudioPurpose, number>>> = { audio_description: 1, hearing_impaired: 2 }
const ROLES: Readonly<Partial<Record<AudioPurpose, string>>> = { commentary: 'commentary', dub: 'dub' }

function audioAccessibility({ purpose = 'main' }: AudioFormat): Xml[] {
  const value = AUDIO_PURPOSES[purpose]
  return value === undefined
    ? []
    : [element('Accessibility', { schemeIdUri: 'urn:tva:metadata:cs:AudioPurposeCS:2007', value })]
}

/** `all`: every audio track, which decides whether these are main or alternative audio. */
export function audioSet(
  tracks: readonly AudioTrack[],
  all: readonly AudioTrack[],
  id: number,
  addressing: Addressing,
): Xml {
  const track = tracks[0]!
  const main = audioRenditions(all)[0]!.tracks.includes(track)
  return element(
    'AdaptationSet',
    {
      id,
      contentType: 'audio',
      mimeType: 'audio/mp4',
      lang: languageTag(track.format.language),
      segmentAlignment: true,
      startWithSAP: 1,
    },
    [
      ...audioAccessibility(track.format),
      role(ROLES[track.format.purpose ?? 'main'] ?? (main ? 'main' : 'alternate')),
      ...tracks.map((each) =>
        element(
          'Representation',
          {
            id: each.id,
            bandwidth: peakRate(each),
            codecs: each.codecs.join(','),
            audioSamplingRate: each.format.sampleRate,
          },
          [channels(each.format), addressing(each)],
        ),
      ),
    ],
  )
}

/** ISO/IEC 23009-1, 5.8.5.5. */
const TEXT_ROLES = { captions: 'caption', subtitles: 'subtitle', forced: 'forced-subtitle' } as const

/** One WebVTT file for the whole track. */
export function textSet(track: TextTrack, id: number): Xml {
  const length = track.segments.reduce((sum, { duration }) => sum + duration, 0) / track.timescale
  const bandwidth = Math.max(1, Math.ceil((track.fullFile.bytes * 8) / Math.max(1, length)))
  const base = element('BaseURL', {}, encodeUriPath(joinPath(track.directory, track.fullFile.uri)))
  return element(
    'AdaptationSet',
    { id, contentType: 'text', mimeType: 'text/vtt', lang: languageTag(track.language) },
    [
      element('Label', {}, track.name),
      role(TEXT_ROLES[track.purpose]),
      ...(track.isDefault ? [role('main')] : []),
      element('Representation', { id: track.id, bandwidth }, [base]),
    ],
  )
}

export function imageSet(track: ThumbnailTrack, id: number): Xml {
  const { columns, rows, width, height, intervalSeconds, directory, sheets } = track
  const { media, first } = numbering(directory, sheets)
  const duration = Math.round(columns * rows * intervalSeconds * 1000)
  const attributes = {
    id: 'thumbnails',
    bandwidth: Math.max(1, averageRate({ timescale: 1000, segments: sheets })),
    width: width * columns,
    height: height * rows,
  }
  return element('AdaptationSet', { id, contentType: 'image', mimeType: 'image/jpeg' }, [
    element('Representation', attributes, [
      element('EssentialProperty', { schemeIdUri: TILES, value: `${columns}x${rows}` }),
      element('SegmentTemplate', { timescale: 1000, duration, startNumber: first, media }),
    ]),
  ])
}

/** ISO/IEC 23009-1, 5.3.3.2: segments of all representations begin at the same times. */
function areAligned(tracks: readonly VideoTrack[]): boolean {
  const times = tracks.map(({ segments, timescale }) =>
    segments.map(({ start }) => microseconds(start, timescale)).join(' '),
  )
  return new Set(times).size === 1
}

/** An essential property: players that cannot display it must ignore the set (DASH-IF IOP). */
function color({ range }: VideoTrack): Xml[] {
  const codes = COLORS[range]
  if (codes === null) return []
  return CICP.map((name, at) =>
    element('EssentialProperty', { schemeIdUri: `urn:mpeg:mpegB:cicp:${name}`, value: codes[at]! }),
  )
}

/** ANSI/SCTE 214-1, 7.2: by channel for CEA-608, by service for CEA-708, each with its language. */
function accessibility(tracks: readonly VideoTrack[], presentation: Presentation): Xml[] {
  const found = embeddedCaptionChannels(tracks, presentation)
  const list = (standard: '608' | '708') => found.filter((channel) => channel.standard === standard)
  const values = {
    '608': list('608').map(({ id, language }) => `${id}=${trackLanguage(language)}`),
    '708': list('708').map(({ number, language }) => `${number}=lang:${language ?? 'und'}`),
  }
  return (['608', '708'] as const)
    .filter((standard) => values[standard].length > 0)
    .map((standard) =>
      element('Accessibility', {
        schemeIdUri: `urn:scte:dash:cc:cea-${standard}:2015`,
        value: values[standard].join(';'),
      }),
    )
}

/** Channel bits in Dolby's scheme (ETSI TS 102 366, E.1.3.1.8): C; L R; L C R Ls Rs LFE. */
const DOLBY_CHANNELS: Record<number, string> = { 1: '4000', 2: 'A000', 6: 'F801' }

function channels({ codec, channels: count }: AudioFormat): Xml {
  const dolby = codec === 'ac-3' || codec === 'ec-3' ? DOLBY_CHANNELS[count] : undefined
  return element('AudioChannelConfiguration', {
    schemeIdUri:
      dolby === undefined
        ? 'urn:mpeg:dash:23003:3:audio_channel_configuration:2011'
        : 'tag:dolby.com,2014:dash:audio_channel_configuration:2011',
    value: dolby ?? count,
  })
}

function property(schemeIdUri: string, value: string): Xml {
  return element('SupplementalProperty', { schemeIdUri, value })
}

function role(value: string): Xml {
  return element('Role', { schemeIdUri: ROLE, value })
}

/** Display aspect ratio. */
function sampleAspectText({ width, height, sar }: VideoTrack): string {
  const { num, den } = multiply(ratio(width, height), sar)
  return `${num}:${den}`
}

function frameRateText({ frameRate: { num, den } }: VideoTrack): string {
  return den === 1 ? String(num) : `${num}/${den}`
}
