// Caption files: where they are cut, on which timeline, and in which language.
import { describe, expect, test } from 'vitest'
import { captionLanguages } from '../../../../transcoder/formats/mpegts/captionServiceDescriptor.ts'
import { webvttFiles } from '../../../../transcoder/manifests/webvtt/webvttSegments.ts'
import { withCaptionLanguages } from '../../../../transcoder/analysis/captionLanguages.ts'
import { toPackets } from '../../../../transcoder/formats/mpegts/section.ts'
import { writePmt, type ProgramMap } from '../../../../transcoder/formats/mpegts/programTables.ts'
import { sealSection } from '../../../../transcoder/formats/mpegts/crc.ts'
import { captionTracks, buildTextTracks } from '../../../../transcoder/segmenter/webvttTracks.ts'
import { makeVideoTrack } from '../../../support/manifests/examplePresentation.ts'
import { jobSpec, packagingSpec, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'

const cue = (start: number, end: number, text: string) => ({ start, end, text, settings: '' })
const cues = [cue(1, 2, 'FIRST'), cue(5.5, 6.5, 'OVER'), cue(12, 13, 'THIRD')]

test('a cue over a boundary is in both segments, on the clock of the segments; a segment without text is a file too', () => {
  const spans = [0, 6000, 12_000, 18_000].map((start) => ({ start, duration: 6000 }))
  const { segments, fullFile: whole } = webvttFiles({ cues }, spans, 900_000, 1000)!
  const map = 'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000'
  const over = '00:00:05.500 --> 00:00:06.500\nOVER'
  expect(segments).toEqual([
    `${map}\n\n00:00:01.000 --> 00:00:02.000\nFIRST\n\n${over}\n`,
    `${map}\n\n${over}\n`,
    `${map}\n\n00:00:12.000 --> 00:00:13.000\nTHIRD\n`,
    `${map}\n`,
  ])
  expect(whole).toBe(
    `WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nFIRST\n\n${over}\n\n00:00:12.000 --> 00:00:13.000\nTHIRD\n`,
  )
})

test('many cues over many segments end the job before they fill the memory', () => {
  const video = {
    ...makeVideoTrack(),
    timescale: 1,
    segments: Array.from({ length: 36_000 }, (_, start) => ({ start, duration: 1 })),
  }
  const crowd = Array.from({ length: 20_000 }, () => cue(0, 36_000, 'always'))
  expect(() =>
    buildTextTracks([{ ...captionTracks([{ channel: 'CC1', cues: crowd }], {})[0]!, field: 'captions[0].input' }], {
      own: 'job-1',
      video: video as never,
      origin: 0,
    }),
  ).toThrow(expect.objectContaining({ code: 'captions_unreadable', field: 'captions[0].input' }))
})

test('a track for each channel, its segments as long as the video’s, each file with its size', () => {
  const video = makeVideoTrack()
  const { tracks, files } = buildTextTracks(
    captionTracks(
      [
        { channel: 'CC1', cues },
        { channel: 'SERVICE1', cues: [] },
      ],
      { CC1: 'eng' },
    ),
    { own: 'job-1', video, origin: 0 },
  )
  expect(tracks).toMatchObject([
    { id: 'captions_CC1', directory: 'captions/CC1', channel: 'CC1', language: 'eng' },
    { id: 'captions_SERVICE1', directory: 'captions/SERVICE1', language: null },
  ])
  const { segments } = tracks[0]!
  expect(segments).toHaveLength(video.segments.length)
  for (const [index, { start, duration, uri, bytes, sha256 }] of segments.entries()) {
    expect(start / 1000).toBeCloseTo(video.segments[index]!.start / video.timescale, 3)
    expect((start + duration) / 1000).toBeCloseTo(
      (video.segments[index]!.start + video.segments[index]!.duration) / video.timescale,
      3,
    )
    expect(files.find(({ path }) => path === `captions/CC1/${uri}`)?.content).toMatchObject({ bytes, sha256 })
  }
  expect(new Set(files.map(({ path }) => path)).size).toBe(2 * (segments.length + 1))
  expect(files.every(({ path }) => path.includes('/job-1/'))).toBe(true)
})

describe('languages', () => {
  const service = (language: string, flags: number) => [...Buffer.from(language), flags, 0x7f, 0xff]
  const descriptor = (services: number[][]) => {
    const body = [0xe0 | services.length, ...services.flat()]
    return Uint8Array.from([0x86, body.length, ...body])
  }
  const map = (own: Uint8Array, video: Uint8Array): ProgramMap => ({
    program: 1,
    version: 0,
    clockPid: 256,
    descriptors: own,
    streams: [{ type: 0x1b, pid: 256, descriptors: video }],
  })
  const stated = descriptor([service('eng', 0xc1), service('SPA', 0xc2), service('eng', 0x7e), service('fre', 0x7f)])
  const languages = { SERVICE1: 'eng', SERVICE2: 'spa', CC1: 'eng', CC3: 'fre' }
  const none = new Uint8Array()

  test('line 21 by field, services by number, in the program’s descriptors or the video’s', () => {
    expect(captionLanguages(map(none, stated), 256)).toEqual(languages)
    expect(captionLanguages(map(stated, none), 256)).toEqual(languages)
    expect(captionLanguages(map(none, stated), 257)).toEqual({})
  })

  test('what is damaged or undetermined is left out', () => {
    expect(captionLanguages(map(none, descriptor([service('und', 0xc1), service('e g', 0xc2)])), 256)).toEqual({})
    const short = Uint8Array.from([0x86, 4, 0xe3, 0x65, 0x6e, 0x67])
    expect(captionLanguages(map(none, short), 256)).toEqual({})
  })

  test('they are read from the head of a transport stream, where captions become files', async () => {
    const pat = sealSection(Uint8Array.of(0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, 0xf0, 0, 0, 0, 0, 0))
    const packets = [...toPackets(pat, 0, 0), ...toPackets(writePmt(map(none, stated)), 0x1000, 0)]
    let taken = 0
    const gateway = {
      async *read() {
        // As often as a stream repeats them; only the first ones are needed.
        for (; taken < 100; taken += 1) yield Buffer.concat([...packets, ...packets])
      },
    }
    const media = mediaInfo({ id: 256, closedCaptions: true }, { formats: ['mpegts'] })
    const found = async (closedCaptions: boolean | null, packaging: ReturnType<typeof packagingSpec> | null) =>
      (await withCaptionLanguages(gateway, jobSpec({ closedCaptions, packaging }), media, new AbortController().signal))
        .video?.captionLanguages
    expect(await found(null, packagingSpec({ hls: true }))).toEqual({})
    expect(await found(true, null)).toEqual({})
    expect(taken).toBe(0)
    expect(await found(true, packagingSpec({ hls: true }))).toEqual(languages)
    expect(taken).toBeLessThan(3)
  })
})
