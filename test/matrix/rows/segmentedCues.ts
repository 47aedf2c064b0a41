// In charge of: SCTE-35 cues in segmented output: playlists, manifests, segments, the tar.
// Not in charge of: single files (cues.ts); cues at every offset within a GOP (test/node/cueTiming).
import { readSplice } from '../../../transcoder/formats/scte35/spliceInfo.ts'
import { scanCues, readCues } from '../../support/mpegts/cueClips.ts'
import { listSegments } from '../../support/manifests/playlistSegments.ts'
import { joinedSegments } from '../../support/transcoder/segmentedTask.ts'
import { measurement, type JobChange, type Measurement, type Row } from '../row.ts'
import { SPLICE_SECONDS } from '../sourceClips.ts'

type Objects = ReadonlyMap<string, Buffer>

const FRAME = 0.04
const PLAYLIST = 'video_0/playlist.m3u8'
const close = (a: number, b: number) => Math.abs(a - b) < FRAME / 2
const isOurs = (section: Uint8Array) => {
  const command = readSplice(section)?.command
  return command?.kind === 'insert' && command.eventId === 1001
}
const says = (seconds: readonly number[]) => seconds.map((each) => each.toFixed(2)).join(', ')

/** Start times of the segments in seconds. */
function begins(playlist: string): number[] {
  const lengths = [...playlist.matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds))
  return lengths.map((_, index) => lengths.slice(0, index).reduce((sum, each) => sum + each, 0))
}

/** The date range of the cue, and a segment that starts there. */
function inPlaylist(objects: Objects, name = PLAYLIST): Measurement {
  const text = objects.get(name)!.toString()
  const ranges = [...text.matchAll(/#EXT-X-DATERANGE:.*/g)].flatMap(([line]) => {
    const [, section] = /SCTE35-OUT=0x([\dA-Fa-f]+)/.exec(line) ?? []
    if (section === undefined || !isOurs(Buffer.from(section, 'hex'))) return []
    return [Date.parse(/START-DATE="([^"]+)"/.exec(line)![1]!) / 1000]
  })
  const starts = begins(text)
  const right =
    ranges.length === 1 && close(ranges[0]!, SPLICE_SECONDS) && starts.some((at) => close(at, SPLICE_SECONDS))
  return measurement(`SCTE35-OUT at ${says(ranges)} s, segments at ${says(starts)} s`, right)
}

/** The cue in the transport stream that the segments form. */
function inSegments(objects: Objects, name = PLAYLIST): Measurement {
  const bytes = joinedSegments(objects, name)
  const { pids } = scanCues(bytes)
  const splices = readCues(bytes).flatMap((cue) => cue.splices)
  const right = pids.join() === '600' && splices.length === 1 && Math.abs(splices[0]! - SPLICE_SECONDS) < 0.001
  return measurement(`splice_insert on PID ${pids.join(', ')} at ${says(splices)} s`, right)
}

function inManifest(objects: Objects, name = 'manifest.mpd'): Measurement {
  const text = objects.get(name)!.toString()
  const scale = Number(/<EventStream [^>]*timescale="(\d+)"/.exec(text)?.[1])
  const events = [...text.matchAll(/<Event ([^>]*)>.*?<Binary>([^<]+)</gs)].flatMap(([, head, binary]) =>
    isOurs(Buffer.from(binary!, 'base64')) ? [Number(/presentationTime="(\d+)"/.exec(head!)![1]) / scale] : [],
  )
  return measurement(`an Event at ${says(events)} s`, events.length === 1 && close(events[0]!, SPLICE_SECONDS))
}

function row(expected: string, change: JobChange, looks: readonly ((objects: Objects) => Measurement)[]): Row {
  return {
    path: 'scte35_passthough',
    value: true,
    expected,
    source: 'cues',
    quick: true,
    job: { scte35_passthough: true, segment_length: 1, ...change },
    measure: async (bench) => {
      const objects = await bench.objects()
      const seen = looks.map((look) => look(objects))
      return measurement(
        seen.map(({ measured }) => measured).join('; '),
        seen.every(({ ok }) => ok),
      )
    },
  }
}

const at = `at ${SPLICE_SECONDS} s`
const TS = { output_container: 'ts', segmented_output_hls: true }

export const segmentedCues: Row[] = [
  row(`HLS of transport streams: a date range and a segment ${at}, the cue in the segments`, TS, [
    inPlaylist,
    inSegments,
  ]),
  row(`HLS of CMAF: a date range and a segment ${at}`, { segmented_output_hls: true }, [inPlaylist]),
  row(`DASH: an event ${at}`, { segmented_output_dash: true }, [inManifest]),
  row(`the tar of HLS: the same in the tar’s playlist and in its bytes`, { ...TS, create_tar_file: true }, [
    (objects) => inPlaylist(objects, 'tar_video_0.m3u8'),
    (objects) => inSegments(objects, 'tar_video_0.m3u8'),
    (objects) => {
      const names = new Set(listSegments(objects.get('tar_video_0.m3u8')!.toString()).map(({ uri }) => uri))
      return measurement([...names].join(', '), [...names].join() === 'show.tar')
    },
  ]),
  row(`the tar of DASH: the same event in the tar’s manifest`, { segmented_output_dash: true, create_tar_file: true }, [
    (objects) => inManifest(objects, 'tar.mpd'),
  ]),
]
