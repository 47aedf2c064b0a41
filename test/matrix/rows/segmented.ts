// In charge of: segmented output, and fields that affect it only.
import { writeFile } from 'node:fs/promises'
import { jpegSize } from '#contract/formats/jpegSize.ts'
import { decodeFrames, probeFile } from '../../support/media/media.ts'
import { listSegments } from '../../support/manifests/playlistSegments.ts'
import { joinedSegments } from '../../support/transcoder/segmentedTask.ts'
import {
  measurement,
  SOURCE_POSTER,
  provenByTest,
  type RowContext,
  type JobChange,
  type Measurement,
  type Row,
} from '../row.ts'
import { ANY } from '../parameterValues.ts'
import { segmentedAudio } from './segmentedAudio.ts'
import { segmentedCues } from './segmentedCues.ts'

/** A single file that contains its audio. */
function single(path: string, value: boolean, change: JobChange = { [path]: value }): Row {
  return {
    path,
    value,
    expected: 'one file with picture and sound',
    job: change,
    quick: true,
    measure: async (bench) => {
      const kinds = await Promise.all(
        (await bench.files()).map(async ({ file }) => (await probeFile(file)).streams.map((each) => each.codec_type)),
      )
      const measured = kinds.map((each) => each.join(' and ')).join('; ')
      return measurement(measured, measured === 'video and audio')
    },
  }
}

const CMAF = { segmented_output_hls: true }
const HLS = { output_container: 'ts', segmented_output_hls: true }

/** `look` describes what it finds in the objects of the whole attempt, and whether that is correct. */
function cut(
  path: string,
  value: unknown,
  expected: string,
  job: JobChange,
  look: (objects: ReadonlyMap<string, Buffer>, bench: RowContext) => Promise<Measurement> | Measurement,
): Row {
  return { path, value, expected, job, quick: true, measure: async (bench) => look(await bench.objects(), bench) }
}

/** Every frame of the source once, in the segments that the playlist lists. */
async function everyPicture(
  objects: ReadonlyMap<string, Buffer>,
  bench: RowContext,
  extension: string,
): Promise<Measurement> {
  const playlist = 'video_0/playlist.m3u8'
  const file = `${await bench.source()}.joined.${extension}`
  await writeFile(file, joinedSegments(objects, playlist))
  const [made, there] = [(await decodeFrames(file)).length, (await decodeFrames(await bench.source())).length]
  const names = listSegments(objects.get(playlist)!.toString()).map(({ uri }) => uri.split('.').at(-1)!)
  const kinds = [...new Set(names)].join(' and ')
  return measurement(`${made} of ${there} pictures in ${kinds}`, made === there && names.includes(extension))
}

function lengths(objects: ReadonlyMap<string, Buffer>): number[] {
  const text = objects.get('video_0/playlist.m3u8')!.toString()
  return [...text.matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds))
}

const separate = (objects: ReadonlyMap<string, Buffer>): Measurement => {
  const master = objects.get('master.m3u8')!.toString()
  const own = /TYPE=AUDIO/.test(master) && objects.has('audio_0/playlist.m3u8')
  return measurement(own ? 'an audio rendition of its own' : 'none', own)
}

const apart = 'HLS with an audio rendition of its own'
const segmentLength = (value: number, expected: string, wanted: (seconds: number[]) => boolean): Row =>
  cut('segment_length', value, expected, { ...HLS, segment_length: value }, (objects) => {
    const seconds = lengths(objects)
    return measurement(`segments of ${seconds.join(', ')} s`, wanted(seconds))
  })

export const segmented: Row[] = [
  ...segmentedCues,
  ...segmentedAudio,
  single('segmented_output_hls', false),
  single('segmented_output_dash', false),
  single('create_tar_file', false),
  cut(
    'create_tar_file',
    true,
    'a tar that begins with the first segment',
    { ...HLS, create_tar_file: true },
    (objects) => {
      const tar = objects.get('show.tar')
      const name = tar
        ?.toString('latin1', 0, 100)
        .replace(/\0.*/s, '')
        .replace(/j-1-\d+/, '…')
      return measurement(`${name} first in show.tar`, name === 'video_0/…/00001.ts')
    },
  ),
  single('thumbnails', false),
  cut('thumbnails', true, 'a sheet, a poster and a track', { ...HLS, thumbnails: true }, (objects) => {
    const track = objects.get('thumbnails/thumbnails.vtt')?.toString() ?? ''
    const [, sheet] = /^(\S+)#xywh=0,0,160,90$/m.exec(track) ?? []
    const there = [sheet, 'poster.jpg'].filter((name) => objects.has(`thumbnails/${name}`))
    return measurement(`${there.length} of 2 pictures that the track and players want`, there.length === 2)
  }),
  ...[true, false].map((value) =>
    cut('preview', value, value ? 'a still of the source' : 'none', { ...HLS, preview: value }, (objects) => {
      const picture = objects.get(SOURCE_POSTER)
      const size = picture === undefined ? null : jpegSize(picture)
      return measurement(size === null ? 'none' : `a JPEG of ${size.width} × ${size.height}`, (size !== null) === value)
    }),
  ),
  single('master_variant_mode', false),
  cut('master_variant_mode', true, apart, { ...HLS, master_variant_mode: true }, separate),
  single('separate_audio', false),
  cut('separate_audio', true, apart, { ...HLS, separate_audio: true }, separate),
  segmentLength(0.01, 'one GOP, 1 s', (seconds) => seconds.length > 1 && seconds[0] === 1),
  segmentLength(60, 'one segment', (seconds) => seconds.length === 1),
  cut('output_container', 'hls', 'HLS, every picture', { output_container: 'hls' }, (objects, bench) =>
    everyPicture(objects, bench, 'ts'),
  ),
  cut('output_container', 'silverlight', 'Smooth Streaming', { output_container: 'silverlight' }, (objects) => {
    const manifest = objects.get('show.ism/Manifest')?.toString() ?? ''
    const fragments = [...objects.keys()].filter((path) => /Fragments\(video=\d+\)$/.test(path)).length
    const listed = Number(/Type="video"[^>]* Chunks="(\d+)"/.exec(manifest)?.[1])
    return measurement(
      `${fragments} fragments of video, ${listed} in the manifest`,
      fragments > 0 && fragments === listed,
    )
  }),
  cut('segmented_output_hls', true, 'HLS, every picture', { segmented_output_hls: true }, (objects, bench) =>
    everyPicture(objects, bench, 'm4s'),
  ),
  cut('segmented_output_dash', true, 'DASH', { segmented_output_dash: true }, (objects) => {
    const mpd = objects.get('manifest.mpd')?.toString() ?? ''
    const sets = [...mpd.matchAll(/<AdaptationSet [^>]*contentType="(\w+)"/g)].map(([, kind]) => kind)
    return measurement(`an MPD with ${sets.join(' and ')}`, sets.join() === 'video,audio')
  }),
  cut('max_chunk_seconds', 0, 'one task, every picture', { ...CMAF, max_chunk_seconds: 0 }, (objects, bench) =>
    everyPicture(objects, bench, 'm4s'),
  ),
  ...[10, 600].map((value) =>
    provenByTest(
      { path: 'max_chunk_seconds', value, expected: `chunks of at most ${value} s` },
      'test/node/transcoder/division/plan/planDivision.test.ts',
      'both bounds of max_chunk_seconds',
    ),
  ),
  ...[60, 86_400].map((value) =>
    provenByTest(
      {
        path: 'deadline_seconds',
        value,
        expected: `chunks that are encoded within ${value} s, if enough transcoders are free`,
      },
      'test/node/transcoder/division/plan/deadlineDivision.test.ts',
      'both bounds of deadline_seconds',
    ),
  ),
  cut(
    'program_start_time',
    ANY,
    'the first PROGRAM-DATE-TIME',
    { ...HLS, program_start_time: '2026-01-31T20:15:00Z' },
    (objects) => {
      const [, first] = /#EXT-X-PROGRAM-DATE-TIME:(\S+)/.exec(objects.get('video_0/playlist.m3u8')!.toString()) ?? []
      return measurement(`${first}`, first?.startsWith('2026-01-31T20:15:00') === true)
    },
  ),
]
