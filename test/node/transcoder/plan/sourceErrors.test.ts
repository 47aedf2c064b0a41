// What only the source can show: the job ends with an error that names the field and what is allowed instead.
import { expect, test } from 'vitest'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import type { SourceCues } from '../../../../transcoder/plan/streams/cuePlan.ts'
import type { MediaInfo } from '../../../../transcoder/plan/model/mediaInfo.ts'
import { TaskError } from '#contract/taskError.ts'
import { jobSpec, videoProfile, audioStream, mediaInfo, audioProfile } from '../../../support/transcoder/jobSpecs.ts'

const original = [videoProfile({ width: 0, height: 0, bitrateKbps: 5000 })]
const size = (width: number, height: number) => mediaInfo({ width, height })
const cues: SourceCues = { pids: [500], cueStreamType: 0x86, splicePoints: [], schedules: 0, damaged: 0 }

const cases: [title: string, spec: JobSpec, media: MediaInfo, code: string, field: string, ...says: string[]][] = [
  ['no video', jobSpec(), { ...mediaInfo(), video: null }, 'no_video', 'input', '1 audio stream', 'audio_output_path'],
  [
    'a source_stream beyond the last',
    jobSpec({ audio: [audioProfile({ sourceStream: 3 })] }),
    mediaInfo({}, { audio: [audioStream(), audioStream({ number: 2 })] }),
    'audio_stream_missing',
    'audioProfiles[0].source_stream',
    'source_stream 3',
    '2 audio streams',
  ],
  [
    'a source_stream of a silent source',
    jobSpec(),
    mediaInfo({}, { audio: [] }),
    'audio_stream_missing',
    'audioProfiles[0].source_stream',
    'no audio streams',
  ],
  [
    'fewer audio streams than the job counts on',
    jobSpec({ expectedAudioStreams: 3 }),
    mediaInfo({}, { formats: ['mpegts'] }),
    'audio_stream_missing',
    'ts_mode_input_audio_source_stream_count',
    '3 audio streams',
    '1 can be read',
  ],
  [
    'size 0: below the minimum bitrate',
    jobSpec({ video: [videoProfile({ width: 0, height: 0, mode: 'cbr', bitrateKbps: 2250 })] }),
    size(1920, 1080),
    'video_bitrate_too_low',
    'videoProfiles[0].video_bitrate',
    'bitrate for this profile and codec should be at least 2300',
  ],
  [
    'size 0: above the level’s bitrate',
    jobSpec({ videoCodec: 'hevc', video: [videoProfile({ width: 0, height: 0, bitrateKbps: 100_000 })] }),
    size(1920, 1080),
    'video_bitrate_too_high',
    'videoProfiles[0].video_bitrate',
    'at most 60000',
  ],
  [
    'size 0: beyond every level of mpeg2',
    jobSpec({ videoCodec: 'mpeg2', video: [videoProfile({ width: 0, height: 0, bitrateKbps: 20_000 })] }),
    size(3840, 2160),
    'unsupported_combination',
    'videoProfiles[0].width',
    '3840x2160',
    '1920x1152',
  ],
  [
    'size 0: beyond every level of h264',
    jobSpec({ video: [videoProfile({ width: 0, height: 0, bitrateKbps: 50_000 })] }),
    size(8192, 8192),
    'unsupported_combination',
    'videoProfiles[0].width',
    '8192x8192',
    '7680',
    '4320',
  ],
  [
    'size 0: smaller than a codec’s smallest',
    jobSpec({ video: original }),
    size(8, 8),
    'unsupported_combination',
    'videoProfiles[0].width',
    '8x8',
    '16x16',
  ],
  [
    'mpeg2 at a rate that it does not have',
    jobSpec({ videoCodec: 'mpeg2', video: [videoProfile({ bitrateKbps: 3000 })] }),
    mediaInfo({ frameRate: { num: 25, den: 2 } }),
    'frame_rate_unsupported',
    'videoProfiles[0].video_framerate',
    '12.5',
    '23.976, 24, 25, 29.97, 30, 50, 59.94, 60',
  ],
  [
    'more pictures than any level',
    jobSpec({ video: [videoProfile({ frameRateFactor: '2x' })] }),
    mediaInfo({ frameRate: { num: 240, den: 1 } }),
    'frame_rate_unsupported',
    'videoProfiles[0].video_framerate',
    '480',
    '300',
  ],
  [
    'cues on a PID that the output uses',
    jobSpec({ container: 'ts', scte35Passthrough: true, scte35Pid: 256 }),
    mediaInfo({}, { formats: ['mpegts'] }),
    'unsupported_combination',
    'scte35_pid_remap',
    '256',
    'a PID other than',
  ],
  [
    'derived names that meet',
    jobSpec({ video: [videoProfile({ output: 'clip_1_180p.mp4' }), videoProfile({ index: 1, output: '' })] }),
    mediaInfo(),
    'output_path_conflict',
    'videoProfiles[1].output',
    'videoProfiles[0]',
    'clip_1_180p.mp4',
  ],
]

test.each(cases)('%s', (_title, spec, media, code, field, ...says) => {
  try {
    planJob(spec, media, { cues: spec.scte35Passthrough ? cues : null })
  } catch (error) {
    if (!(error instanceof TaskError)) throw error
    expect({ code: error.code, field: error.field }).toEqual({ code, field })
    for (const part of says) expect(error.message).toContain(part)
    return
  }
  throw new Error('the job was planned')
})
