// A job makes at least one thing; a job without video needs none of the fields of video.
import { expect, test } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { outputDirectories } from '#contract/job/paths/outputLocation.ts'
import { audioFilePath } from '#contract/job/paths/outputNames.ts'
import { expectAccepted, expectRefused, fieldsAndCodes, request } from '../../requestFixture.ts'

const m4a = { audio_codec: 'aac', audio_container: 'm4a', audio_bitrate: 128, source_stream: 1 }
const audioOnly = (changes: Record<string, unknown> = {}) =>
  request({ videoProfiles: [], audioProfiles: [m4a], ...changes })

test('a job that would make nothing is refused with what it can make', () => {
  for (const lists of [
    { videoProfiles: [], audioProfiles: [] },
    { videoProfiles: undefined, audioProfiles: [] },
    { videoProfiles: [], audioProfiles: [{ audio_codec: 'aac' }] },
  ]) {
    const problems = expectRefused(request(lists))
    expect(fieldsAndCodes(problems)).toEqual(['required videoProfiles'])
    expect(problems[0]?.message).toMatch(
      /would make nothing; give videoProfiles or ladder, or .*source_stream, or stills, animated_preview or waveform$/,
    )
  }
})

test('a job without video says so: its profiles may be misspelt', () => {
  const aac = { audio_codec: 'aac', audio_bitrate: 128, source_stream: 1 }
  const { videoProfiles, ...rest } = request({ audioProfiles: [aac] }) as Record<string, unknown>
  const refused = (changes: object) => expectRefused({ ...rest, ...changes })
  expect(fieldsAndCodes(refused({}))).toEqual(['required videoProfiles'])
  expect(fieldsAndCodes(refused({ videoProfiles: [] }))).toEqual(['required videoProfiles'])
  expect(refused({ videoProfiles: null })).toEqual(refused({}))
  const [misspelt, ...others] = refused({ videoProfile: videoProfiles })
  expect(fieldsAndCodes(others)).toEqual(['required videoProfiles'])
  expect(misspelt!.message).toMatch(/^videoProfile is not a known field.*; did you mean videoProfiles\?$/)
  for (const said of [
    { audio_output_path: 'a' },
    { audioProfiles: [{ ...aac, audio_container: 'm4a' }] },
    { audioProfiles: [{ ...aac, audio_codec: 'mp3' }] },
    { output_container: 'hls', bucket_output_path: 'out' },
  ]) {
    expectAccepted({ ...rest, videoProfiles: [], ...said })
    expect(fieldsAndCodes(refused(said))).toEqual(['required videoProfiles'])
  }
  const stills = { stills: [{ count: 1 }] }
  expectAccepted({ ...rest, ...stills })
  expect(fieldsAndCodes(refused({ ...stills, videoprofile: videoProfiles }))).toEqual([
    'unknown_field videoprofile',
    'required videoProfiles',
  ])
})

test('a list with a mistake is reported as the mistake', () => {
  expect(fieldsAndCodes(expectRefused(audioOnly({ audioProfiles: [{ source_stream: 9 }] })))).toEqual([
    'invalid_value audioProfiles[0].source_stream',
  ])
  expect(fieldsAndCodes(expectRefused(audioOnly({ audioProfiles: [], ladder: 'Auto' })))).toEqual([
    'invalid_value ladder',
  ])
})

test('with video, audioProfiles stays required', () => {
  expect(fieldsAndCodes(expectRefused(request({ audioProfiles: undefined })))).toEqual(['required audioProfiles'])
  expect(
    fieldsAndCodes(expectRefused(request({ videoProfiles: undefined, audioProfiles: undefined, ladder: 'auto' }))),
  ).toEqual(['required audioProfiles'])
})

test('without video, chunks have no effect', () => {
  const warned = (max_chunk_seconds: number) =>
    fieldsAndCodes(expectAccepted(audioOnly({ max_chunk_seconds })).warnings)
  expect(warned(60)).toEqual(['no_effect max_chunk_seconds'])
  expect(warned(0)).toEqual([])
})

test('without video, audio files are in bucket_output_path unless audio_output_path is given', () => {
  const found = (changes: Record<string, unknown>) => {
    const { config, warnings } = expectAccepted(audioOnly(changes))
    const spec = toSpec(config, 'song.flac')
    return [
      spec.audio.map((profile) => audioFilePath(spec, profile)),
      outputDirectories(config),
      fieldsAndCodes(warnings),
    ]
  }
  expect(found({})).toEqual([['song_audio_0.m4a'], [''], []])
  expect(found({ bucket_output_path: 'podcast' })).toEqual([['podcast/song_audio_0.m4a'], ['podcast'], []])
  expect(found({ bucket_output_path: 'podcast', audio_output_path: 'a' })).toEqual([
    ['a/song_audio_0.m4a'],
    ['a'],
    ['no_effect bucket_output_path'],
  ])
})

test('fields of video have no effect, and defaults have no warning', () => {
  const { warnings } = expectAccepted(
    audioOnly({
      video_codec: 'hevc',
      gop_length: 4,
      keep_fps: false,
      closed_captions: true,
      segment_length: 4,
      ts_profile: 'dvb',
    }),
  )
  expect(fieldsAndCodes(warnings)).toEqual(
    ['video_codec', 'gop_length', 'keep_fps', 'closed_captions', 'ts_profile', 'segment_length'].map(
      (field) => `no_effect ${field}`,
    ),
  )
  expect(expectAccepted(audioOnly({ video_codec: 'h.264', gop_length: 1, keep_fps: true })).warnings).toEqual([])
})
