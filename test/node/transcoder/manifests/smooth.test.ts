// In charge of: the Smooth manifest: every address that a client derives from it is the name of a fragment.
// Not in charge of: playing it.
import { expect, test } from 'vitest'
import type { AudioTrack, Segment, VideoTrack } from '../../../../transcoder/manifests/presentation/presentation.ts'
import { SMOOTH_TIMESCALE } from '../../../../transcoder/formats/mp4/movieFragment.ts'
import { smoothBitrates, smoothFragmentPath, smoothManifest } from '../../../../transcoder/manifests/smoothManifest.ts'
import {
  makeAudioTrack,
  SEGMENT_ENDS,
  examplePresentation,
  makeSegments,
  makeVideoTrack,
} from '../../../support/manifests/examplePresentation.ts'

function fragments(bitrate: number, stream: string): Segment[] {
  return makeSegments(SMOOTH_TIMESCALE, SEGMENT_ENDS, [100]).map((one) => ({
    ...one,
    uri: smoothFragmentPath(bitrate, stream, one.start),
  }))
}
const smooth = { form: 'smooth', init: null, directory: 'film.ism', timescale: SMOOTH_TIMESCALE } as const
function video(bitrate: number, fields: Partial<VideoTrack> = {}): VideoTrack {
  return makeVideoTrack({
    ...smooth,
    segments: fragments(bitrate, 'video'),
    codecPrivateData: '0000000167640029aa',
    ...fields,
  })
}
function audio(at: number, stream: string, language: string): AudioTrack {
  return makeAudioTrack(at, { language }, { ...smooth, segments: fragments(128_000, stream), codecPrivateData: '1190' })
}
const made = examplePresentation({
  video: [video(2_500_000), video(800_000, { width: 640, height: 360 })],
  audio: [audio(0, 'audio_0', 'eng'), audio(1, 'audio_1', 'ger')],
})

/** The addresses that a client derives by [MS-SSTR] 2.2.3, as dash.js does. */
function addresses(manifest: string): string[] {
  return [...manifest.matchAll(/<StreamIndex ([^>]*)>(.*?)<\/StreamIndex>/gs)].flatMap(([, head, body]) => {
    const url = /Url="([^"]*)"/.exec(head!)![1]!
    const bitrates = [...body!.matchAll(/ Bitrate="(\d+)"/g)].map(([, one]) => one!)
    const times = [...body!.matchAll(/<c n="\d+" t="(\d+)"/g)].map(([, one]) => one!)
    return bitrates.flatMap((bitrate) =>
      times.map((time) => url.replace('{bitrate}', bitrate).replace('{start time}', time)),
    )
  })
}

test('every address is a file, and every file has an address', () => {
  const files = [...made.video, ...made.audio].flatMap((track) => track.segments.map(({ uri }) => uri))
  expect(addresses(smoothManifest(made)).toSorted()).toEqual(files.toSorted())
})

test('fragments may lie in a directory below the manifest', () => {
  const below = <T extends VideoTrack | AudioTrack>(track: T): T => {
    return { ...track, segments: track.segments.map((one) => ({ ...one, uri: `j-1-2/${one.uri}` })) }
  }
  const moved = { ...made, video: made.video.map(below), audio: made.audio.map(below) }
  const files = [...moved.video, ...moved.audio].flatMap((track) => track.segments.map(({ uri }) => uri))
  expect(addresses(smoothManifest(moved)).toSorted()).toEqual(files.toSorted())
})

test('has the codec data that decoders need', () => {
  const text = smoothManifest(made)
  expect(text).toContain('TimeScale="10000000" Duration="204000000"')
  expect(text).toContain('FourCC="H264" MaxWidth="640" MaxHeight="360" CodecPrivateData="0000000167640029AA"')
  expect(text).toContain(
    'FourCC="AACL" SamplingRate="48000" Channels="2" BitsPerSample="16" PacketSize="4" AudioTag="255" CodecPrivateData="1190"',
  )
  expect(text).toContain('Type="audio" Name="audio_1" TimeScale="10000000" Chunks="5" QualityLevels="1"')
  expect(text).toContain('Language="de"')
})

test('what a client could not find is refused', () => {
  const late = video(1, { segments: fragments(1, 'video').map((one) => ({ ...one, start: one.start + 1 })) })
  expect(() => smoothManifest({ ...made, video: [late] })).toThrow('which its address does not say')
  expect(() => smoothManifest({ ...made, video: [video(5), video(5)] })).toThrow('the same bitrate')
  const short = video(6, { segments: fragments(6, 'video').slice(0, -1) })
  expect(() => smoothManifest({ ...made, video: [video(5), short] })).toThrow('different segment boundaries')
  expect(() => smoothManifest(examplePresentation())).toThrow('does not consist of Smooth fragments')
})

test('no two levels share a bit rate', () => {
  expect(smoothBitrates([1000, 500, 1000, 1000])).toEqual([1_000_000, 500_000, 1_000_001, 1_000_002])
})
