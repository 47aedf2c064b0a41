// In charge of: WebVTT, job.json, and text that could be misread as syntax.
// Not in charge of: playlists and manifests.
import { expect, test } from 'vitest'
import { base64, hex } from '../../../../transcoder/formats/encodeBytes.ts'
import { languageName, languageTag } from '../../../../transcoder/manifests/presentation/languageTags.ts'
import { jobReportJson } from '../../../../transcoder/manifests/jobReport.ts'
import { relativePath, encodeUriPath } from '../../../../transcoder/manifests/presentation/relativeUri.ts'
import { thumbnailVtt, webvtt } from '../../../../transcoder/manifests/webvtt/webvttWriter.ts'
import { examplePresentation } from '../../../support/manifests/examplePresentation.ts'

const cue = { start: 3599.9996, end: 3661.5, text: 'a < b --> c & d\n\nlast', settings: 'line:90%' }

test('a segment of captions is placed by its PTS, and its text is only text', () => {
  expect(webvtt([cue], 126_000)).toBe(
    'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:126000,LOCAL:00:00:00.000\n\n' +
      '01:00:00.000 --> 01:01:01.500 line:90%\na &lt; b --&gt; c &amp; d\nlast\n',
  )
  expect(webvtt([])).toBe('WEBVTT\n')
  expect(webvtt([{ ...cue, end: cue.start }])).toBe('WEBVTT\n')
})

test('every thumbnail has its tile in a sheet', () => {
  const { thumbnails, duration } = examplePresentation()
  const blocks = thumbnailVtt(thumbnails!, duration).trim().split('\n\n').slice(1)
  expect(blocks).toHaveLength(11)
  expect(blocks[3]).toBe('00:00:06.000 --> 00:00:08.000\n00001.jpg#xywh=160,90,160,90')
  expect(blocks[4]).toBe('00:00:08.000 --> 00:00:10.000\n00002.jpg#xywh=0,0,160,90')
  expect(blocks[10]).toBe('00:00:20.000 --> 00:00:20.400\n00003.jpg#xywh=0,90,160,90')
})

test('job.json is the same for the same job, and says what was measured', () => {
  const facts = {
    jobId: 'job-1',
    source: { name: 'a.ts', size: 5, etag: '"x"' },
    ffmpegVersion: '5.1.9',
    objects: [
      { path: 'b', size: 2, sha256: 'cd', role: 'media' as const },
      { path: 'a', size: 1, sha256: null, role: 'playlist' as const },
    ],
    presentations: [examplePresentation()],
    warnings: [{ code: 'no_cues' as const, field: 'scte35_passthough', message: 'None.' }],
  }
  const text = jobReportJson({ ...facts, configuration: { b: [{ d: 1, c: 2 }], a: 3 } })
  expect(text).toBe(jobReportJson({ ...facts, configuration: { a: 3, b: [{ c: 2, d: 1 }] } }))
  const read = JSON.parse(text) as {
    objects: { path: string }[]
    presentations: [{ renditions: { id: string; peak_bandwidth: number; bytes: number }[] }]
  }
  expect(read.objects.map(({ path }) => path)).toEqual(['a', 'b'])
  expect(read.presentations[0].renditions[0]).toMatchObject({
    id: 'video_0',
    duration_seconds: 20.4,
    segments: 5,
    bytes: 2_050_000,
    peak_bandwidth: 1_066_667,
    average_bandwidth: Math.ceil((2_050_000 * 8) / 20.4),
  })
})

test.each([
  ['ger', 'de', 'German'],
  ['deu', 'de', 'German'],
  ['eng', 'en', 'English'],
  ['qaa', 'qaa', 'qaa'],
])('%s is %s, %s', (language, tag, name) => {
  expect(languageTag(language)).toBe(tag)
  expect(languageName(tag)).toBe(name)
})

test.each([null, 'und', 'zxx', '', 'x"y'])('%s is no language', (language) => {
  expect(languageTag(language)).toBeNull()
})

test('bytes as text are what others make of them', () => {
  for (let length = 0; length < 10; length++) {
    const bytes = Uint8Array.from({ length }, (_, at) => 255 - at * 37)
    expect(base64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
    expect(hex(bytes)).toBe(Buffer.from(bytes).toString('hex'))
  }
})

test('paths as references', () => {
  expect(encodeUriPath('a b/c#d?"$1:é')).toBe('a%20b/c%23d%3F%22%241%3A%C3%A9')
  expect(relativePath('a/b/list.vtt', 'a/c/d.jpg')).toBe('../c/d.jpg')
  expect(relativePath('a/list.vtt', 'a/d.jpg')).toBe('d.jpg')
})
