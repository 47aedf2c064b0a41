import { describe, expect, test } from 'vitest'
import { usedPids } from '../../../../transcoder/plan/streams/programSelection.ts'
import { parseFfprobe } from '../../../../transcoder/plan/model/ffprobeJson.ts'

const video = {
  index: 0,
  codec_type: 'video',
  codec_name: 'h264',
  width: 640,
  height: 360,
  avg_frame_rate: '25/1',
  r_frame_rate: '25/1',
}

describe('what ffprobe prints, read', () => {
  test('an empty document has nothing', () => {
    expect(parseFfprobe({})).toEqual({
      formats: [],
      durationSeconds: null,
      startSeconds: null,
      sizeBytes: null,
      video: null,
      audio: [],
      program: null,
      programs: [],
      other: [],
    })
  })
  test.each([
    [-90, 90],
    [90, 270],
    [180, 180],
    [-180, 180],
    [0, 0],
    ['nan', 0],
  ])('a display matrix of %s degrees means turning by %i clockwise', (rotation, expected) => {
    expect(
      parseFfprobe({ streams: [{ ...video, side_data_list: [{ side_data_type: 'Display Matrix', rotation }] }] }).video
        ?.rotation,
    ).toBe(expected)
  })
  test.each([
    ['25/1', '25/1', { num: 25, den: 1 }, false],
    ['19001/634', '30000/1001', { num: 30000, den: 1001 }, false],
    ['25/1', '50/1', { num: 25, den: 1 }, false],
    ['60000/1', '25/1', { num: 25, den: 1 }, false],
    ['2160000/75143', '90000/1', { num: 2160000, den: 75143 }, true],
    ['0/0', '25/1', { num: 25, den: 1 }, false],
    ['0/0', '0/0', null, false],
  ])('average %s and nominal %s', (average, nominal, frameRate, variableFrameRate) => {
    expect(
      parseFfprobe({ streams: [{ ...video, avg_frame_rate: average, r_frame_rate: nominal }] }).video,
    ).toMatchObject({
      frameRate,
      variableFrameRate,
    })
  })
  test('twice the average counts fields of interlaced video only', () => {
    const read = (field_order: string) =>
      parseFfprobe({ streams: [{ ...video, r_frame_rate: '50/1', field_order }] }).video?.variableFrameRate
    expect([read('tt'), read('unknown'), read('progressive')]).toEqual([false, false, true])
  })
  test('the last picture lasts longer than a nominal rate says, but where the container states durations', () => {
    const read = (format_name: string, r_frame_rate: string) =>
      parseFfprobe({ format: { format_name }, streams: [{ ...video, r_frame_rate }] }).video?.lastPictureIsBrief
    expect([read('mpegts', '50/1'), read('asf', '1000/1'), read('mpegts', '25/1')]).toEqual([true, true, undefined])
    expect(read('mov,mp4', '50/1')).toBeUndefined()
  })
  test.each([
    // ffprobe 5.1, and a version that states a default and counts ticks.
    ['h264', '30/1', '30/1', { frameRate: { num: 30, den: 1 } }],
    ['h264', '25/1', '60/1', { frameRate: { num: 30, den: 1 } }],
    ['mpeg1video', '25/1', '60000/1001', { frameRate: { num: 30_000, den: 1001 } }],
    ['hevc', '25/1', '30/1', { frameRate: { num: 30, den: 1 } }],
    ['h264', '0/0', '1000/1', { frameRate: null, countsPictures: true }],
    ['h264', '25/1', '2000/1', { frameRate: null, countsPictures: true }],
  ])('an elementary stream of %s with %s on average and %s', (codec_name, average, nominal, expected) => {
    const stream = { ...video, codec_name, avg_frame_rate: average, r_frame_rate: nominal }
    const read = parseFfprobe({ format: { format_name: codec_name.replace('mpeg1', 'mpeg') }, streams: [stream] }).video
    expect(read).toMatchObject({ ...expected, variableFrameRate: false })
  })
  test('a rate that no one counted is marked', () => {
    const read = (format_name: string, avg_frame_rate: string) =>
      parseFfprobe({ format: { format_name }, streams: [{ ...video, avg_frame_rate }] }).video?.rateEvidence
    expect(read('mov,mp4', '25/1')).toBeUndefined()
    expect(read('matroska,webm', '25/1')).toBe('header')
    expect(read('matroska,webm', '0/0')).toBe('grid')
    expect(read('flv', '1000/1')).toBe('grid')
  })
  test.each([
    ['27:46:46.016000000', 6.037],
    ['00:00:06.016000000', 100_006.016],
  ])('a Matroska file from 99999.979 s on whose stream has the tag %s', (DURATION, seconds) => {
    const format = { format_name: 'matroska,webm', start_time: '99999.979', duration: '100006.016' }
    const { durationSeconds } = parseFfprobe({ format, streams: [{ ...video, tags: { DURATION } }] })
    expect(durationSeconds).toBeCloseTo(seconds, 6)
  })
  test('a transport stream of 0.8 s, which begins at 1.4 s', () => {
    const format = { format_name: 'mpegts', start_time: '1.4', duration: '0.8' }
    expect(parseFfprobe({ format, streams: [video] }).durationSeconds).toBe(0.8)
  })
  test('the identifier of a stream is its PID in a transport stream', () => {
    expect(parseFfprobe({ streams: [{ ...video, id: '0x100' }] }).video?.id).toBe(256)
    expect(parseFfprobe({ streams: [{ ...video, id: 'nonsense' }] }).video?.id).toBeNull()
  })
  test('cover art is not video, and the video stream after it is', () => {
    const cover = {
      index: 0,
      codec_type: 'video',
      codec_name: 'png',
      width: 600,
      height: 600,
      disposition: { attached_pic: 1 },
    }
    const media = parseFfprobe({ streams: [cover, { ...video, index: 1 }] })
    expect(media.video?.index).toBe(1)
    expect(media.other).toEqual([{ index: 0, id: null, type: 'cover art', codec: 'png', language: null }])
  })
  test('an audio stream that could not be read keeps its number', () => {
    const media = parseFfprobe({
      streams: [
        { index: 1, codec_type: 'audio', codec_name: 'aac', channels: 0 },
        {
          index: 2,
          codec_type: 'audio',
          codec_name: 'ac3',
          channels: 6,
          sample_rate: '48000',
          tags: { language: 'deu' },
        },
      ],
    })
    expect(media.audio).toMatchObject([{ number: 2, codec: 'ac3', channels: 6, sampleRate: 48000, language: 'deu' }])
  })
  test.each([
    ['a single picture first', { codec_name: 'mjpeg', nb_frames: '1' }, { nb_frames: '180' }, 1],
    [
      'the same in Matroska',
      { codec_name: 'mjpeg', tags: { DURATION: '00:00:00.040000000' } },
      { tags: { DURATION: '00:00:06.000000000' } },
      1,
    ],
    ['a picture of unknown length', { codec_name: 'png' }, {}, 1],
    ['a disabled track', { disposition: { default: 0 } }, { disposition: { default: 1 } }, 1],
    ['a default that is one picture', { nb_frames: '1', disposition: { default: 1 } }, { nb_frames: '9' }, 1],
    ['two alike', {}, {}, 0],
    ['two that are one picture each', { nb_frames: '1' }, { nb_frames: '1' }, 0],
    ['only MJPEG', { codec_name: 'mjpeg' }, { codec_name: 'mjpeg' }, 0],
  ])('the video that a player would show: %s', (_name, first, second, chosen) => {
    const media = parseFfprobe({
      streams: [
        { ...video, ...first },
        { ...video, ...second, index: 1 },
      ],
    })
    expect(media.video?.index).toBe(chosen)
    expect(media.other.map(({ index }) => index)).toEqual([1 - chosen])
    expect(usedPids(media)?.video ?? 0).toBe(chosen)
  })
  test('audio that ffmpeg does not know is counted and named, and other streams are found by PID', () => {
    const streams = [
      { ...video, id: '0x100' },
      { index: 1, codec_type: 'data', codec_name: 'bin_data', id: '0x101' },
      { index: 2, codec_type: 'audio', codec_name: 'mp2', channels: 2, id: '0x102' },
    ]
    const media = parseFfprobe({ format: { format_name: 'mpegts' }, streams }, null, new Map([[0x101, 'AC-4']]))
    expect(media.audio).toMatchObject([{ number: 2, codec: 'mp2' }])
    expect(media.other).toMatchObject([{ type: 'audio', codec: 'AC-4', audioNumber: 1 }])
    expect(usedPids(media)).toEqual({ video: 0x100, audio: { 2: 0x102 } })
  })
  test.each([
    [{}, 'ac-4'],
    [{ codec_name: 'ac4' }, 'ac4'],
  ])('an unknown codec is not decodable: %j', (codec, name) => {
    const stream = { index: 1, codec_type: 'audio', codec_tag_string: 'ac-4', channels: 2, ...codec }
    expect(parseFfprobe({ streams: [video, stream] })).toMatchObject({
      audio: [],
      other: [{ codec: name, audioNumber: 1 }],
    })
  })
  test('a sample aspect of 0:1 is unknown, thus square', () => {
    expect(parseFfprobe({ streams: [{ ...video, sample_aspect_ratio: '0:1' }] }).video?.sar).toEqual({ num: 1, den: 1 })
  })
})
