// In charge of: the MPD against its schema, another parser, the playlists of the same presentation, and line by line.
// Not in charge of: playing it.
import HLS from 'hls-parser'
import { describe, expect, test } from 'vitest'
import { dashManifest } from '../../../../transcoder/manifests/dash/mpd.ts'
import { dashObjects } from '../../../../transcoder/manifests/manifestObjects.ts'
import { mediaPlaylist, playlistPath } from '../../../../transcoder/manifests/hls/mediaPlaylist.ts'
import type {
  AudioTrack,
  Presentation,
  VideoTrack,
} from '../../../../transcoder/manifests/presentation/presentation.ts'
import { HOST, parseMpdTracks } from '../../../support/manifests/mpdTracks.ts'
import {
  makeAudioTrack,
  makeCueEvent,
  examplePresentation,
  makeSegments,
  makeVideoTrack,
} from '../../../support/manifests/examplePresentation.ts'
import { expectValidMpd } from '../../../support/manifests/mpdSchema.ts'

describe('the manifest is valid', () => {
  test.for<[string, Presentation]>([
    ['with everything', examplePresentation()],
    [
      'with nothing but pictures',
      examplePresentation({
        audio: [],
        text: [],
        thumbnails: null,
        cues: [],
        video: [makeVideoTrack({ captionChannels: [] })],
      }),
    ],
    [
      'with HDR beside SDR',
      examplePresentation({
        video: [
          makeVideoTrack(),
          makeVideoTrack({ id: 'hdr', directory: 'hdr', codecs: ['hvc1.2.4.L93.90'], range: 'PQ' }),
        ],
      }),
    ],
    [
      'with profiles that select different audio',
      examplePresentation({
        video: [
          makeVideoTrack({ audioTracks: ['audio_0'] }),
          makeVideoTrack({ id: 'b', directory: 'b', audioTracks: [] }),
        ],
      }),
    ],
    [
      'with names that mean something in XML and templates',
      examplePresentation({ video: [makeVideoTrack({ directory: 'a & b/<$Number$>"' })] }),
    ],
  ])('%s', async ([, made], context) => {
    await expectValidMpd(dashManifest(made), context)
    // expectValidMpd fails the test for an invalid manifest; this also checks the number of tracks.
    expect(parseMpdTracks(dashManifest(made)).size).toBe(made.video.length + made.audio.length)
  })
})

test('HLS and DASH have the same segments at the same times', () => {
  const made = examplePresentation()
  const dash = parseMpdTracks(dashManifest(made))
  const tracks: (VideoTrack | AudioTrack)[] = [...made.video, ...made.audio]
  for (const track of tracks) {
    const hls = HLS.parse(mediaPlaylist(track, made)) as HLS.types.MediaPlaylist
    const other = dash.get(track.id)!.segments
    let time = 0
    expect(hls.segments).toHaveLength(other.length)
    hls.segments.forEach((segment, at) => {
      expect(new URL(segment.uri, HOST + playlistPath(track)).href).toBe(other[at]!.resolvedUri)
      expect(time).toBeCloseTo(other[at]!.presentationTime, 5)
      expect(new URL(segment.map.uri, HOST + playlistPath(track)).href).toBe(other[at]!.map.resolvedUri)
      time += segment.duration
    })
  }
})

test('profiles with different audio are separate adaptation sets, each paired with its audio only', () => {
  const rungs = [['audio_0'], ['audio_1', 'audio_2'], ['audio_0'], []]
  const video = rungs.map((audioTracks, at) => makeVideoTrack({ id: `v${at}`, directory: `v${at}`, audioTracks }))
  const text = dashManifest(examplePresentation({ video }))
  const sets = [...text.matchAll(/<AdaptationSet id="(\d+)".*?<\/AdaptationSet>/gs)].map(([xml, id]) => {
    const representations = [...xml.matchAll(/<Representation id="([^"]+)"/g)].map((found) => found[1]!)
    const switching = /adaptation-set-switching:2016" value="([^"]+)"/.exec(xml)?.[1]
    return { id: Number(id), representations, switching }
  })
  expect(sets.slice(0, 6)).toEqual([
    { id: 0, representations: ['v0', 'v2'], switching: '1,2' },
    { id: 1, representations: ['v1'], switching: '0,2' },
    { id: 2, representations: ['v3'], switching: '0,1' },
    { id: 3, representations: ['audio_0'], switching: undefined },
    { id: 4, representations: ['audio_1'], switching: undefined },
    { id: 5, representations: ['audio_2'], switching: undefined },
  ])
  const common = sets.slice(6).map(({ id }) => id)
  expect(common.length).toBeGreaterThan(1)
  const subsets = [...text.matchAll(/<Subset contains="([^"]+)"\/>/g)].map(([, ids]) => ids!.split(' ').map(Number))
  expect(subsets).toEqual([
    [0, 3, ...common],
    [1, 4, 5, ...common],
    [2, ...common],
  ])
  // A single audio selection for all renditions needs no Subset.
  expect(dashManifest(examplePresentation())).not.toMatch(/Subset|switching/)
})

test('a timeline is in runs, with a time where something is missing', () => {
  const list = makeSegments(10, [6, 12, 18, 20], [1])
  expect(dashManifest(examplePresentation({ video: [makeVideoTrack({ timescale: 10, segments: list })] }))).toMatch(
    /<S t="0" d="60" r="2"\/>\s+<S d="20"\/>/,
  )
  const gap = list.map((one, at) => (at < 2 ? one : { ...one, start: one.start + 5 }))
  expect(dashManifest(examplePresentation({ video: [makeVideoTrack({ timescale: 10, segments: gap })] }))).toMatch(
    /<S t="0" d="60" r="1"\/>\s+<S t="125" d="60"\/>\s+<S d="20"\/>/,
  )
})

test('the manifest is put last', () => {
  const [document] = dashObjects(examplePresentation())
  expect(document).toMatchObject({ path: 'manifest.mpd', stage: 2, content_type: 'application/dash+xml' })
})

test('names that do not count up are refused', () => {
  const list = makeSegments(10, [6, 12, 18], [1]).filter((_, at) => at !== 1)
  expect(() => dashManifest(examplePresentation({ video: [makeVideoTrack({ segments: list })] }))).toThrow(
    'out of order',
  )
  expect(() => dashManifest(examplePresentation({ video: [makeVideoTrack({ form: 'ts', init: null })] }))).toThrow(
    'needs CMAF',
  )
})

describe('what is said of a track', () => {
  const text = dashManifest(examplePresentation())
  test.each([
    [
      'codec and rate of a rung',
      /<Representation id="video_1" bandwidth="\d+" codecs="avc1.64001e" width="720" height="576" frameRate="25" sar="64:45">/,
    ],
    ['languages', /lang="de" segmentAlignment="true"/],
    ['AC-3 5.1 in Dolby’s words', /tag:dolby.com,2014:dash:audio_channel_configuration:2011" value="F801"/],
    ['AAC in MPEG’s', /urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="2"/],
    ['CEA-608', /schemeIdUri="urn:scte:dash:cc:cea-608:2015" value="CC1=eng"/],
    ['CEA-708', /schemeIdUri="urn:scte:dash:cc:cea-708:2015" value="1=lang:und"/],
    ['captions as one file', /<BaseURL>captions\/CC1\/job-1-2\/captions.vtt<\/BaseURL>/],
    [
      'thumbnails',
      /<SegmentTemplate timescale="1000" duration="8000" startNumber="1" media="thumbnails\/job-1-2\/\$Number%05d\$.jpg"\/>/,
    ],
    ['both rungs cut alike', /contentType="video" mimeType="video\/mp4" segmentAlignment="true"/],
    ['one shape of both', /par="16:9"/],
    [
      'cues',
      /<Event presentationTime="900000" duration="180000" id="1">\s+<Signal xmlns="http:\/\/www.scte.org\/schemas\/35\/2016">\s+<Binary>\/DARAAAAAAAAAP\/wAAAAAHpPv\/8=<\/Binary>/,
    ],
  ])('%s', (_, pattern) => {
    expect(text).toMatch(pattern)
  })

  test('a section with two segmentation descriptors is one event; one before the first frame is none', () => {
    const cues = [
      makeCueEvent({ id: 'a', kind: 'in', eventId: 1 }),
      makeCueEvent({ id: 'b', eventId: 2 }),
      makeCueEvent({ id: 'c', start: -1 }),
    ]
    expect(dashManifest(examplePresentation({ cues })).match(/<Event /g)).toHaveLength(1)
  })

  test('audio description has its purpose, and is not main', () => {
    const audio = [
      makeAudioTrack(0, { purpose: 'audio_description', programme: 'stream 2' }),
      makeAudioTrack(1, { programme: 'stream 1' }),
      makeAudioTrack(2, { purpose: 'commentary', programme: 'stream 3' }),
    ]
    const made = dashManifest(examplePresentation({ audio }))
    const said = [
      ...made.matchAll(/contentType="audio"[^>]*>\s*(?:<Accessibility ([^>]*)\/>\s*)?<Role [^>]*value="(\w+)"/g),
    ]
    expect(said.map(([, purpose, role]) => [purpose, role])).toEqual([
      ['schemeIdUri="urn:tva:metadata:cs:AudioPurposeCS:2007" value="1"', 'alternate'],
      [undefined, 'main'],
      [undefined, 'commentary'],
    ])
  })

  test('HDR is essential', () => {
    const hdr = dashManifest(
      examplePresentation({ video: [makeVideoTrack({ range: 'HLG' })], audio: [makeAudioTrack(0)] }),
    )
    expect(hdr).toContain('<EssentialProperty schemeIdUri="urn:mpeg:mpegB:cicp:TransferCharacteristics" value="18"/>')
    expect(text).not.toContain('cicp')
  })
})
