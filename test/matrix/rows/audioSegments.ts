// In charge of: HLS and DASH without video: codecs, forms of segments, their length, the ladder.
// Not in charge of: segments with video (segmented.ts), audio files (audioFiles.ts).
import { writeFile } from 'node:fs/promises'
import { audioSamples, dominantFrequency } from '../../support/media/audioSamples.ts'
import { probeFile } from '../../support/media/media.ts'
import { joinedSegments } from '../../support/transcoder/segmentedTask.ts'
import { measurement, type JobChange, type Measurement, type Row, type RowContext } from '../row.ts'

type Objects = ReadonlyMap<string, Buffer>

const CODECS = ['aac', 'ac3', 'opus', 'flac', 'eac3'] as const
const audio = (codecs: readonly string[]) =>
  codecs.map((audio_codec) => ({ audio_codec, audio_bitrate: audio_codec === 'flac' ? undefined : '128' }))
const CMAF: JobChange = { output_container: 'hls', segmented_output_dash: true, videoProfiles: [] }

function row(
  path: string,
  value: unknown,
  expected: string,
  job: JobChange,
  look: (objects: Objects, bench: RowContext) => Promise<Measurement> | Measurement,
): Row {
  return {
    path,
    value,
    expected,
    job: { videoProfiles: [], ...job },
    source: 'small',
    measure: async (bench) => look(await bench.objects(), bench),
  }
}

/** What the segments of an audio profile contain. */
async function content(objects: Objects, bench: RowContext, index: number): Promise<{ codec: string; tone: number }> {
  const file = `${await bench.source()}.audio_${index}.joined`
  await writeFile(file, joinedSegments(objects, `audio_${index}/playlist.m3u8`))
  const { streams } = await probeFile(file)
  const codec = streams.map(({ codec_name: name }) => name).join(', ')
  return { codec, tone: Math.round(dominantFrequency(await audioSamples(file)) / 10) * 10 }
}

const codecs = CODECS.map((codec, index) =>
  row(
    'audioProfiles[].audio_codec',
    codec,
    `CMAF segments of ${codec} alone, a tone of 440 Hz`,
    { ...CMAF, audioProfiles: audio(CODECS) },
    async (objects, bench) => {
      const found = await content(objects, bench, index)
      return measurement(`${found.codec}, ${found.tone} Hz`, found.codec === codec && found.tone === 440)
    },
  ),
)

const lengths = (objects: Objects): number[] =>
  [
    ...objects
      .get('audio_0/playlist.m3u8')!
      .toString()
      .matchAll(/#EXTINF:([\d.]+)/g),
  ].map(([, length]) => Number(length))

export const audioSegments: readonly Row[] = [
  ...codecs,
  row(
    'output_container',
    'ts',
    'HLS of transport streams with AAC alone',
    { output_container: 'ts', segmented_output_hls: true, audioProfiles: audio(['aac']) },
    async (objects, bench) => {
      const found = await content(objects, bench, 0)
      const kinds = [
        ...new Set([...objects.keys()].filter((path) => /\d{5}\./.test(path)).map((path) => path.slice(-3))),
      ]
      return measurement(
        `${kinds.join(', ')} with ${found.codec}, ${found.tone} Hz`,
        kinds.join() === '.ts' && found.codec === 'aac' && found.tone === 440,
      )
    },
  ),
  row(
    'segment_length',
    0.5,
    'segments of 23 AAC frames, 0.491 s, but for the last',
    { ...CMAF, segment_length: 0.5, audioProfiles: audio(['aac']) },
    (objects) => {
      const [first = 0, ...more] = lengths(objects).slice(0, -1)
      const isEven = more.every((length) => Math.abs(length - first) < 0.00001)
      return measurement(
        `${first.toFixed(3)} s, ${isEven ? 'all alike' : 'uneven'}`,
        isEven && more.length > 1 && Math.abs(first - (23 * 1024) / 48_000) < 0.0001,
      )
    },
  ),
  row(
    'segmented_output_hls',
    true,
    'a variant for each profile, without resolution',
    { segmented_output_hls: true, audioProfiles: [{ audio_bitrate: '64' }, { audio_bitrate: '128' }] },
    (objects) => {
      const master = objects.get('master.m3u8')!.toString()
      const variants = [...master.matchAll(/#EXT-X-STREAM-INF:(.*)/g)].map(([, attributes]) => attributes!)
      const right = variants.length === 2 && variants.every((each) => !each.includes('RESOLUTION'))
      return measurement(`${variants.length} variants`, right)
    },
  ),
  row(
    'segmented_output_dash',
    true,
    'one adaptation set of audio with a representation for each profile',
    { segmented_output_dash: true, audioProfiles: [{ audio_bitrate: '64' }, { audio_bitrate: '128' }] },
    (objects) => {
      const mpd = objects.get('manifest.mpd')!.toString()
      const sets = [...mpd.matchAll(/<AdaptationSet [^>]*contentType="(\w+)"/g)].map(([, kind]) => kind)
      const count = mpd.match(/<Representation /g)?.length ?? 0
      return measurement(`${sets.join(', ')} with ${count} representations`, sets.join() === 'audio' && count === 2)
    },
  ),
]
