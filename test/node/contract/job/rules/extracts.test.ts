// Rules between the fields of stills, animated_preview and waveform, and against the paths of other outputs.
import { describe, expect, test } from 'vitest'
import { expectAccepted, expectRefused, fieldsAndCodes, request } from '../../requestFixture.ts'
import { allowedOutputsOf } from '#contract/task/allowedOutputs.ts'

const refused = (members: Record<string, unknown>, profile: Record<string, unknown> = {}): string[] =>
  fieldsAndCodes(expectRefused(request({ ...members }, profile)))

describe('stills', () => {
  test.each([
    { title: 'no times', stills: [{}], problems: ['required stills[0]'] },
    {
      title: 'two kinds of times',
      stills: [{ at_seconds: 1, count: 2 }],
      problems: ['conflict stills[0]'],
    },
    { title: 'no element', stills: [], problems: ['invalid_length stills'] },
    {
      title: 'too many elements',
      stills: Array.from({ length: 17 }, () => ({ count: 1 })),
      problems: ['invalid_length stills'],
    },
    { title: 'not a list', stills: { count: 1 }, problems: ['invalid_type stills'] },
    { title: 'an element that is no object', stills: [5], problems: ['invalid_type stills[0]', 'required stills[0]'] },
    {
      title: 'too many images together',
      stills: [{ count: 600 }, { at_seconds: Array.from({ length: 500 }, (_, n) => n) }],
      problems: ['out_of_range stills'],
    },
    {
      title: 'too many times',
      stills: [{ at_seconds: Array.from({ length: 1001 }, (_, n) => n) }],
      problems: ['invalid_value stills[0].at_seconds'],
    },
    {
      title: 'an extension of another format',
      stills: [{ count: 1, format: 'webp', output: 'a.jpg' }],
      problems: ['invalid_output_path stills[0].output'],
    },
    {
      title: 'the same path twice',
      stills: [
        { count: 1, output: 'x/a.jpg' },
        { count: 2, output: './x/a.jpg' },
      ],
      problems: ['output_path_conflict stills[1].output'],
    },
  ])('$title', ({ stills, problems }) => {
    expect(refused({ stills })).toEqual(problems)
  })

  test.each([
    'clip_still_0_0001.jpg',
    'any_still_0_9999.jpg',
    'film_preview.gif',
    'film_waveform.json',
    'x_0007.jpg',
    'poster.jpg',
  ])('a video profile cannot be called %s', (output) => {
    const members = {
      stills: [{ count: 2 }, { count: 2, output: 'x.jpg' }, { at_seconds: 1, output: 'poster.jpg' }],
      animated_preview: { format: 'gif' },
      waveform: {},
    }
    expect(refused(members, { output })).toEqual(['output_path_conflict videoProfiles[0].output'])
  })
})

describe('waveform', () => {
  test('one resolution only', () => {
    expect(refused({ waveform: { samples_per_pixel: 256, pixels_per_second: 20 } })).toEqual([
      'conflict waveform.pixels_per_second',
    ])
  })
  test('an image has no resolution', () => {
    const { warnings } = expectAccepted(request({ waveform: { format: 'png', samples_per_pixel: 512 } }))
    expect(fieldsAndCodes(warnings)).toContain('no_effect waveform.samples_per_pixel')
  })
})

test.each(['animated_preview', 'waveform'])('%s must be an object', (name) => {
  for (const value of [[], 'yes', true, 5]) expect(refused({ [name]: value })).toEqual([`invalid_type ${name}`])
})

test('each may be the only thing that a job makes; unknown members are echoed with a warning', () => {
  const { videoProfiles: _video, audioProfiles: _audio, ...rest } = request({}) as Record<string, unknown>
  for (const members of [{ stills: [{ count: 1 }] }, { animated_preview: {} }, { waveform: {} }])
    expect(expectAccepted({ ...rest, ...members }).config).toMatchObject(members)
  const { config, warnings } = expectAccepted({ ...rest, waveform: { bitz: 8 } })
  expect(config.waveform).toMatchObject({ bitz: 8, bits: '8' })
  expect(fieldsAndCodes(warnings)).toContain('unknown_field waveform.bitz')
})

test('a transcoder may store exactly the planned names, with their media types', () => {
  const { config } = expectAccepted(
    request({
      bucket_output_path: 'dir',
      stills: [
        { count: 2 },
        { at_seconds: 1, output: 'p/a.jpg' },
        { at_seconds: [1], format: 'webp', output: 'p/b.webp' },
      ],
      animated_preview: { format: 'gif' },
      waveform: { format: 'png' },
    }),
  )
  const allowed = allowedOutputsOf(config, 'film.mp4', 'job-1')
  const verdict = (path: string, type: string) => allowed.violation('parts', path, type)
  expect([
    verdict('dir/film_still_0_0001.jpg', 'image/jpeg'),
    verdict('dir/p/a.jpg', 'image/jpeg'),
    verdict('dir/p/b_0012.webp', 'image/webp'),
    verdict('dir/film_preview.gif', 'image/gif'),
    verdict('dir/film_waveform.png', 'image/png'),
  ]).toEqual([null, null, null, null, null])
  for (const path of [
    'dir/p/a_0001.jpg',
    'dir/film_still_3_0001.jpg',
    'dir/film_still_0_00001.jpg',
    'film_preview.gif',
    'dir/film_waveform.json',
  ])
    expect(allowed.violation('parts', path)).toBe('path')
  expect(verdict('dir/film_still_0_0001.jpg', 'text/html')).toBe('type')
})
