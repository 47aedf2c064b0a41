// In charge of: which audio tracks are encodings of the same audio, and the rendition groups of HLS.
// Not in charge of: writing them to a playlist (multivariantPlaylist.ts).
import type { AudioPurpose } from '#contract/job/jobSpec.ts'
import { languageName, languageTag } from './languageTags.ts'
import type { AudioTrack } from './presentation.ts'

/** One audio stream of the source, in each requested encoding. */
export interface AudioRendition {
  /** Unique; shown to viewers. */
  name: string
  /** BCP 47; null where the source does not state it. */
  language: string | null
  purpose: AudioPurpose
  /** Highest quality first. */
  tracks: AudioTrack[]
}

/** EXT-X-MEDIA with one GROUP-ID: one member for each rendition. */
export interface AudioGroup {
  id: string
  /** RFC 6381. A rendition without this codec is a member in another codec, because every group has every rendition. */
  codec: string
  members: { rendition: AudioRendition; track: AudioTrack }[]
}

/** In order of first occurrence, main audio first: players begin with the first. */
export function audioRenditions(tracks: readonly AudioTrack[]): AudioRendition[] {
  const found = new Map<string, AudioTrack[]>()
  for (const track of tracks) {
    const { language, programme, purpose = 'main' } = track.format
    const origin = `${programme ?? `language ${language ?? ''}`} ${purpose}`
    // A second track with the same encoding differs in volume or dialogue level: it is a separate rendition.
    for (let copy = 0; ; copy++) {
      const key = `${origin} ${copy}`
      const same = found.get(key) ?? []
      if (same.some((other) => encoding(other) === encoding(track))) continue
      found.set(key, [...same, track])
      break
    }
  }
  const names = new Map<string, number>()
  const mainFirst = [...found.values()].toSorted((a, b) => Number(isSpecial(a)) - Number(isSpecial(b)))
  return mainFirst.map((same) => {
    const { purpose = 'main' } = same[0]!.format
    const language = languageTag(same[0]!.format.language)
    const spoken = language === null ? 'Audio' : languageName(language)
    const name = purpose === 'main' ? spoken : `${spoken} (${PURPOSE_NAMES[purpose]})`
    const count = (names.get(name) ?? 0) + 1
    names.set(name, count)
    return { name: count === 1 ? name : `${name} ${count}`, language, purpose, tracks: same.toSorted(byQuality) }
  })
}

const PURPOSE_NAMES: Readonly<Record<Exclude<AudioPurpose, 'main'>, string>> = {
  audio_description: 'audio description',
  hearing_impaired: 'for the hard of hearing',
  clean_effects: 'music and effects',
  commentary: 'commentary',
  dub: 'dubbed',
}

function isSpecial([track]: readonly AudioTrack[]): boolean {
  return (track!.format.purpose ?? 'main') !== 'main'
}

function encoding({ format }: AudioTrack): string {
  return `${format.codec} ${format.channels} ${format.bitrateKbps}`
}

function byQuality(a: AudioTrack, b: AudioTrack): number {
  return b.format.channels - a.format.channels || b.format.bitrateKbps - a.format.bitrateKbps
}

/**
 * The groups of each selection of tracks (the audio of one video profile), in the order of the selections. Groups with
 * the same members are merged. RFC 8216bis, 4.4.6.1.1 requires the same members in all groups. This holds within a
 * selection, and between selections of the same renditions. Video profiles that select different renditions still get
 * different groups.
 */
export function groupsOfSelections(tracks: readonly AudioTrack[], selections: readonly string[][]): AudioGroup[][] {
  const renditions = audioRenditions(tracks)
  const made = selections.map((ids) =>
    audioGroups(
      renditions.flatMap((rendition): AudioRendition[] => {
        const chosen = rendition.tracks.filter(({ id }) => ids.includes(id))
        return chosen.length === 0 ? [] : [{ ...rendition, tracks: chosen }]
      }),
    ),
  )
  const isOne = new Set(selections.map((ids) => ids.toSorted().join(' '))).size === 1
  if (isOne) return made
  const known = new Map<string, AudioGroup>()
  return made.map((groups) =>
    groups.map((group): AudioGroup => {
      // The members' positions in audioProfiles distinguish groups of one codec.
      const id = [codecName(group.codec), ...group.members.map(({ track }) => track.profile)].join('-')
      const same = known.get(id) ?? { ...group, id }
      known.set(id, same)
      return same
    }),
  )
}

/**
 * Groups of one codec each. A codec has as many groups as any rendition has encodings in it. A rendition without the
 * codec contributes another encoding.
 */
function audioGroups(renditions: readonly AudioRendition[]): AudioGroup[] {
  // In the order of audioProfiles.
  const tracks = renditions.flatMap((rendition) => rendition.tracks).toSorted((a, b) => a.profile - b.profile)
  const codecs = [...new Set(tracks.map(({ format }) => format.codec))]
  return codecs.flatMap((codec) => {
    const inCodec = renditions.map((rendition) => rendition.tracks.filter(({ format }) => format.codec === codec))
    const count = Math.max(...inCodec.map(({ length }) => length))
    return Array.from({ length: count }, (_, rank): AudioGroup => {
      const inGroup = inCodec.map((encodings) => encodings[Math.min(rank, encodings.length - 1)])
      const lead = inGroup.find((track) => track !== undefined)!
      return {
        id: count === 1 ? codecName(codec) : `${codecName(codec)}_${rank}`,
        codec,
        members: renditions.map((rendition, at) => ({
          rendition,
          track: inGroup[at] ?? closestEncoding(rendition.tracks, lead),
        })),
      }
    })
  })
}

function closestEncoding(tracks: readonly AudioTrack[], to: AudioTrack): AudioTrack {
  const distance = ({ format }: AudioTrack) =>
    Math.abs(format.channels - to.format.channels) * 10_000 + Math.abs(format.bitrateKbps - to.format.bitrateKbps)
  return tracks.toSorted((a, b) => distance(a) - distance(b))[0]!
}

function codecName(codec: string): string {
  if (codec.startsWith('mp4a.40')) return 'aac'
  return codec.replaceAll(/[^A-Za-z0-9]/g, '')
}
