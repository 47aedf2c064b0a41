// In charge of: parts of the player that can be tested without a browser: caption names, preview images, times.
import { describe, expect, test } from 'vitest'
import { languageName, namedTracks, type TextTrack } from '../../../web/src/player/captions.ts'
import { parseStoryboard, tileAt } from '../../../web/src/player/storyboard.ts'
import { spokenTime, timecode } from '../../../web/src/player/time.ts'

describe('the names of captions', () => {
  const track = (id: string, part: Partial<TextTrack>): TextTrack => ({
    id,
    language: 'und',
    label: null,
    channel: null,
    ...part,
  })
  const names = (tracks: TextTrack[]) => namedTracks(tracks, 'en').map(({ id, label }) => [id, label])

  test('captions in the video and as a file are offered once, as the file', () => {
    expect(names([track('1', { channel: 'CC1', language: 'eng' }), track('2', { label: 'CC1' })])).toEqual([
      ['2', 'Captions'],
    ])
  })
  test('captions that are only in the video stay', () => {
    expect(names([track('1', { channel: 'CC3' }), track('2', { label: 'CC1', language: 'en' })])).toEqual([
      ['1', 'Captions'],
      ['2', 'English'],
    ])
  })
  test('a channel is named only where two would have the same name', () => {
    expect(names([track('1', { label: 'CC1', language: 'en' }), track('2', { label: 'CC2', language: 'en' })])).toEqual(
      [
        ['1', 'English (CC1)'],
        ['2', 'English (CC2)'],
      ],
    )
    expect(names([track('1', {}), track('2', {})])).toEqual([
      ['1', 'Captions (1)'],
      ['2', 'Captions (2)'],
    ])
  })
  test('a track name is shown, and a forced track is marked', () => {
    expect(
      names([
        track('1', { label: 'Director’s comments', language: 'en' }),
        track('2', { language: 'es-419' }),
        track('3', { language: 'de', forced: true }),
      ]),
    ).toEqual([
      ['1', 'Director’s comments'],
      ['2', 'Latin American Spanish'],
      ['3', 'German (forced)'],
    ])
  })
  test.for([
    ['en', 'English'],
    ['fra', 'French'],
    ['und', null],
    ['', null],
    [null, null],
    ['not a language', 'not a language'],
  ] as const)('the language %s is called %s', ([code, name]) => {
    expect(languageName(code, 'en')).toBe(name)
  })
})

describe('the images of the seek bar', () => {
  const BASE = 'https://x.test/o/9.sig/a/j/thumbnails/thumbnails.vtt'
  const text = [
    'WEBVTT',
    '',
    'NOTE xywh=1,2,3,4',
    '',
    '00:00:00.000 --> 00:00:05.000',
    '1/1.jpg#xywh=0,0,160,90',
    '',
    'a name',
    '00:05.000 --> 01:00:00.500 align:start',
    '1/1.jpg#xywh=pixel:160,0,160,90',
    '',
    '00:00:07.000 --> 00:00:08.000',
    'no area',
    '',
    '00:00:07.000 --> 00:00:08.000',
    '1/1.jpg#xywh=0,0,0,90',
  ]

  test.for(['\n', '\r\n'])('are read with their place in the sheet, whatever ends the lines (%j)', (end) => {
    const tiles = parseStoryboard(text.join(end), BASE)
    const sheet = 'https://x.test/o/9.sig/a/j/thumbnails/1/1.jpg'
    expect(tiles).toEqual([
      { start: 0, end: 5, url: sheet, x: 0, y: 0, width: 160, height: 90 },
      { start: 5, end: 3600.5, url: sheet, x: 160, y: 0, width: 160, height: 90 },
    ])
  })
  test('the one of a moment is found, the last one for everything after it', () => {
    const tiles = parseStoryboard(text.join('\n'), BASE)
    expect([0, 4.99, 5, 99_999].map((seconds) => tileAt(tiles, seconds)?.x)).toEqual([0, 0, 160, 160])
    expect(tileAt([], 3)).toBeNull()
  })
})

test.for([
  [0, '0:00', '0 seconds'],
  [65.9, '1:05', '1 minute 5 seconds'],
  [3723, '1:02:03', '1 hour 2 minutes 3 seconds'],
  [7200, '2:00:00', '2 hours'],
  [Number.NaN, '0:00', '0 seconds'],
] as const)('%d seconds are shown as %s and spoken as "%s"', ([seconds, shown, spoken]) => {
  expect([timecode(seconds), spokenTime(seconds)]).toEqual([shown, spoken])
})
