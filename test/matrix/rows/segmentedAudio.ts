// In charge of: `audio_profiles` in segmented output: which audio the players of each rendition play.
// Not in charge of: single files (audio.ts).
import { writeFile } from 'node:fs/promises'
import { dominantFrequency, audioSamples } from '../../support/media/audioSamples.ts'
import { probeFile } from '../../support/media/media.ts'
import { parseAttributes, readTags } from '../../support/manifests/hlsRules.ts'
import { joinedSegments } from '../../support/transcoder/segmentedTask.ts'
import { measurement, type RowContext, type JobChange, type Row } from '../row.ts'
import { trackHz } from '../sourceClips.ts'

type Objects = ReadonlyMap<string, Buffer>

const SELECTIONS = ['0', '1', 'none'] as const
const WANTED = `${trackHz(0)} Hz; ${trackHz(1)} Hz; none`

/** The tones of the audio in the segments of a playlist. */
async function tones(objects: Objects, bench: RowContext, playlist: string): Promise<string[]> {
  const file = `${await bench.source()}.${playlist.replaceAll('/', '.')}.joined`
  await writeFile(file, joinedSegments(objects, playlist))
  const count = (await probeFile(file)).streams.filter(({ codec_type }) => codec_type === 'audio').length
  const heard: string[] = []
  for (let position = 0; position < count; position += 1)
    heard.push(`${Math.round(dominantFrequency(await audioSamples(file, position)) / 10) * 10} Hz`)
  return heard
}

/** For each variant, in the order of the profiles: what its segments contain, and the members of its audio group. */
async function ofVariants(objects: Objects, bench: RowContext): Promise<string> {
  const tags = readTags(objects.get('master.m3u8')!.toString())
  const media = tags.filter(({ name }) => name === 'EXT-X-MEDIA').map(({ value }) => parseAttributes(value))
  const heard = new Map<string, string>()
  for (const [index, { name, value }] of tags.entries()) {
    if (name !== 'EXT-X-STREAM-INF') continue
    const group = parseAttributes(value).get('AUDIO')
    const uris = media.flatMap((one) =>
      one.get('TYPE') === 'AUDIO' && group !== undefined && one.get('GROUP-ID') === group ? [one.get('URI')!] : [],
    )
    const own = tags[index + 1]!.value
    const all: string[] = []
    for (const playlist of [own, ...uris]) all.push(...(await tones(objects, bench, playlist)))
    heard.set(own, all.join(', ') || 'none')
  }
  return SELECTIONS.map((_, index) => heard.get(`video_${index}/playlist.m3u8`)).join('; ')
}

/** The video and the audio of each Subset of the MPD. */
function ofSubsets(objects: Objects): string {
  const manifest = objects.get('manifest.mpd')!.toString()
  const sets = [...manifest.matchAll(/<AdaptationSet id="(\d+)".*?<Representation id="([^"]+)"/gs)]
  const name = new Map(sets.map(([, id, representation]) => [id!, representation!]))
  return [...manifest.matchAll(/<Subset contains="([^"]+)"/g)]
    .map(([, ids]) =>
      ids!
        .split(' ')
        .map((id) => name.get(id)!)
        .join(' and '),
    )
    .join('; ')
}

const job: JobChange = {
  audioProfiles: [{ source_stream: '1' }, { source_stream: '2' }],
  videoProfiles: SELECTIONS.map((audio_profiles) => ({ width: 64, height: 64, video_bitrate: 100, audio_profiles })),
}

function row(
  value: string,
  form: string,
  change: JobChange,
  wanted: string,
  look: (objects: Objects, bench: RowContext) => Promise<string> | string,
): Row {
  return {
    path: 'videoProfiles[].audio_profiles',
    value,
    expected: `${form}: ${wanted}`,
    source: 'tracks' as const,
    job: { ...job, ...change },
    quick: true,
    measure: async (bench) => {
      const measured = await look(await bench.objects(), bench)
      return measurement(measured, measured === wanted)
    },
  }
}

const HLS = { segmented_output_hls: true }
export const segmentedAudio: Row[] = [
  row('0', 'variants of HLS, audio in the transport streams', { ...HLS, output_container: 'ts' }, WANTED, ofVariants),
  row(
    '1',
    'variants of HLS, an audio group for each selection',
    { ...HLS, output_container: 'ts', separate_audio: true },
    WANTED,
    ofVariants,
  ),
  row('none', 'variants of HLS, CMAF', HLS, WANTED, ofVariants),
  row(
    'none',
    'subsets of DASH',
    { segmented_output_dash: true },
    'video_0 and audio_0; video_1 and audio_1; video_2',
    ofSubsets,
  ),
]
