// In charge of: playlists and the MPD for a tar: they refer to the same bytes as those for separate files.
// Not in charge of: the tar itself.
import HLS from 'hls-parser'
import { describe, expect, test } from 'vitest'
import { tarDocuments, tarMasterPlaylist, tarMediaPlaylist } from '../../../../transcoder/manifests/tar/tarPlaylists.ts'
import type { Presentation } from '../../../../transcoder/manifests/presentation/presentation.ts'
import type { TarIndex } from '../../../../transcoder/manifests/presentation/objectLocation.ts'
import { examplePresentation } from '../../../support/manifests/examplePresentation.ts'
import { hlsRuleViolations } from '../../../support/manifests/hlsRules.ts'
import { expectValidMpd } from '../../../support/manifests/mpdSchema.ts'
import { parseMpdTracks } from '../../../support/manifests/mpdTracks.ts'

/** Contents in sequence, each after a header of 512 bytes and padded to 512. */
function tarOf({ video, audio, text }: Presentation): TarIndex {
  const spans = new Map<string, { offset: number; bytes: number }>()
  let offset = 0
  const add = (path: string, bytes: number) => {
    spans.set(path, { offset: offset + 512, bytes })
    offset += 512 + Math.ceil(bytes / 512) * 512
  }
  for (const track of [...video, ...audio, ...text]) {
    if (track.kind !== 'text') add(`${track.directory}/${track.init!.uri}`, track.init!.bytes)
    for (const { uri, bytes } of track.segments) add(`${track.directory}/${uri}`, bytes)
  }
  return { name: 'my film.tar', ranges: spans }
}

const made = examplePresentation({ thumbnails: null })
const tar = tarOf(made)
const documents = new Map(tarDocuments(made, tar, { hls: true, dash: true }).map(({ path, body }) => [path, body]))

test('playlists keep the rules', () => {
  const playlists = new Map([...documents].filter(([path]) => path.endsWith('.m3u8')))
  expect(hlsRuleViolations(playlists, 'tar.m3u8')).toEqual([])
  expect([...documents.keys()]).toContain('tar_video_0_iframes.m3u8')
  expect(tarMasterPlaylist(made)).toContain('\ntar_video_0.m3u8\n')
})

test('a file that the tar does not have is refused', () => {
  const spans = new Map([...tar.ranges].filter(([path]) => path !== 'audio_1/job-1-2/00003.m4s'))
  expect(() => tarMediaPlaylist(made.audio[1]!, made, { ...tar, ranges: spans })).toThrow(
    'no audio_1/job-1-2/00003.m4s',
  )
})

describe('ranges', () => {
  test.each([...made.video, ...made.audio])('of $id are its files, in HLS and in DASH', (track) => {
    const hls = HLS.parse(documents.get(`tar_${track.id}.m3u8`)!) as HLS.types.MediaPlaylist
    const dash = parseMpdTracks(documents.get('tar.mpd')!).get(track.id)!
    const expected = track.segments.map(({ uri }) => tar.ranges.get(`${track.directory}/${uri}`)!)
    expect(hls.segments.map(({ uri, byterange }) => [uri, byterange])).toEqual(
      expected.map(({ offset, bytes }) => ['my%20film.tar', { offset, length: bytes }]),
    )
    expect(hls.segments[0]!.map?.byterange).toEqual({
      offset: tar.ranges.get(`${track.directory}/${track.init!.uri}`)!.offset,
      length: track.init!.bytes,
    })
    expect(dash.segments.map(({ resolvedUri, byterange }) => [resolvedUri, byterange])).toEqual(
      expected.map(({ offset, bytes }) => ['http://host/my%20film.tar', { offset, length: bytes }]),
    )
  })

  test('of a key frame lie inside of its segment', () => {
    const hls = HLS.parse(documents.get('tar_video_0_iframes.m3u8')!) as HLS.types.MediaPlaylist
    const { offset } = tar.ranges.get('video_0/job-1-2/00001.m4s')!
    expect(hls.segments[1]!.byterange).toEqual({ offset: offset + 300_000, length: 60_000 })
  })
})

test('the MPD is valid', async (context) => {
  await expectValidMpd(documents.get('tar.mpd')!, context)
  // dash.js counts <S> elements to find a <SegmentURL>.
  expect(documents.get('tar.mpd')).not.toContain(' r="')
})
