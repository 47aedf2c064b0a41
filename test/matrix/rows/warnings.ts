// In charge of: every warning code: the smallest job that causes it, or the test that proves it if the source is hard
// to make.
// Not in charge of: the list of codes (contract/warningCodes.ts).
import type { WarningCode } from '#contract/warningCodes.ts'
import { measurement, provenByTest, type RowContext, type JobChange, type Row } from '../row.ts'
import type { SourceName } from '../sourceClips.ts'
import { WARNING } from '../parameterValues.ts'

interface Made {
  source?: SourceName
  /** Features that ffmpeg is treated as lacking. */
  without?: Parameters<RowContext['planWarnings']>[0]
  also?: readonly WarningCode[]
}

/** A job whose validation and plan give this warning, and no other one but `also`. */
function planned(value: WarningCode, when: string, job: JobChange, { source, without, also = [] }: Made = {}): Row {
  const wanted = [value, ...also].toSorted().join(', ')
  return {
    path: WARNING,
    value,
    job,
    expected: `${when}${also.length === 0 ? '' : ` (with ${also.join(', ')})`}`,
    ...(source === undefined ? {} : { source }),
    quick: true,
    measure: async (bench) => {
      const codes = [...new Set(await bench.planWarnings(without))].toSorted().join(', ')
      return measurement(codes === '' ? 'no warning' : codes, codes === wanted)
    },
  }
}

const shown = (value: WarningCode, when: string, file: string, title: string = `'${value}'`): Row =>
  provenByTest({ path: WARNING, value, expected: when }, `test/${file}`, title)

const SILENT = { audioProfiles: [] }
const TS = { output_container: 'ts' }
const HLS = { ...TS, segmented_output_hls: true }
const TWO = [{ source_stream: '1' }, { source_stream: '2' }]
const SMALL = { width: 64, height: 64, video_bitrate: 100 }

const request: Row[] = [
  planned('unknown_field', 'a field that there is not', { colour: 'red' }),
  planned('no_effect', 'a field that does nothing in this job', { segment_length: 6 }),
  planned('rounded_to_even', 'an odd width', { videoProfiles: [{ width: 321 }] }),
  planned('value_clamped', 'a number outside its range', { gop_length: 100 }),
  planned('provider_assumed', 'a credential without cloud_provider', {
    input: 'oci://space/films/film.mp4',
    cloud_credentials: {
      input: { access_key: 'A', secret_key: 'B', region: 'eu-frankfurt-1' },
      output: { cloud_provider: 'vendor-store' },
    },
  }),
  planned('audio_without_source_stream', 'an audio profile without source_stream', {
    audioProfiles: [{ source_stream: undefined }],
  }),
  planned('extension_differs', 'an output whose name has another extension', {
    videoProfiles: [{ output: 'film.ts' }],
  }),
  planned('audio_profile_unused', 'an audio profile that no video profile selects', {
    audioProfiles: [{}, {}],
    videoProfiles: [{ audio_profiles: '0' }],
  }),
  planned(
    'audio_bitrate_low',
    'less than ac3 needs for 6 channels',
    { audioProfiles: [{ audio_codec: 'ac3', audio_channels: '6', audio_bitrate: '192' }] },
    { also: ['audio_channels_silent', 'dialnorm_not_in_source'] },
  ),
  shown('webhook_left_out', 'the webhook_url of the API key cannot be read', 'worker/jobs/retryAndDelete.test.ts'),
]

const LATE = 'what cannot be in time comes late with a warning; a shared field and a channel of SCC are reported'
const LEFT_OUT = 'node/transcoder/plan/planJob.test.ts'
const REAL = 'node/transcoder/analysis/droppedStreams.test.ts'
const source: Row[] = [
  shown('afd_left_out', 'an active format description', LEFT_OUT),
  shown('attachment_left_out', 'an attachment of a Matroska file', REAL),
  planned(
    'audio_left_out',
    'optional audio that the source does not have',
    { audioProfiles: [{ optional: true }] },
    { source: 'grey' },
  ),
  shown(
    'audio_silent_in_piece',
    'an element of inputs without the audio stream of a profile',
    'node/transcoder/pipeline/joins.test.ts',
    'is silence of its length, with a warning',
  ),
  shown('caption_track_left_out', 'a track of captions beside the video', LEFT_OUT),
  shown(
    'caption_glyphs_missing',
    'burned-in captions with a character that no font has',
    'node/transcoder/pipeline/burnIn.test.ts',
    'characters that no font has are named, and the rest is drawn',
  ),
  planned('captions_not_found', 'closed_captions of a source that has none', { closed_captions: true }),
  shown(
    'captions_damaged',
    'burned-in subtitles with a damaged packet',
    'node/transcoder/pipeline/bitmapBurnIn.test.ts',
    'damaged packets: what can be read is drawn, and a warning says so',
  ),
  ...(
    [
      [
        'captions_empty',
        'a caption file without captions',
        'HLS and DASH: a rendition for each file, split at the segments, with places',
      ],
      [
        'captions_encoding_assumed',
        'a caption file in Windows-1252',
        'bytes that are not UTF-8, and a caption that ends before it begins, give a warning',
      ],
      [
        'captions_left_out',
        'captions after the end of the source',
        'mp4: a tx3g track for each file, with language, title and styles',
      ],
      [
        'captions_times_invalid',
        'a caption that ends before it begins',
        'bytes that are not UTF-8, and a caption that ends before it begins, give a warning',
      ],
      [
        'captions_times_shifted',
        'a caption file that begins at 01:00:00:00',
        '%s: every format gives the same times and text',
      ],
    ] as const
  ).map(([code, source, title]) => shown(code, source, 'node/transcoder/pipeline/sidecarCaptions.test.ts', title)),
  ...(
    [
      [
        'captions_characters_replaced',
        'embed of a caption file in Cyrillic letters',
        'text and times are those of the file',
      ],
      ['captions_delayed', 'embed of a caption that begins at once', LATE],
      ['captions_not_embedded', 'embed of an SCC file in a field that is taken', LATE],
    ] as const
  ).map(([code, source, title]) => shown(code, source, 'node/transcoder/pipeline/embeddedCaptions.test.ts', title)),
  shown(
    'captions_removed',
    'closed captions at another frame rate',
    'node/transcoder/encoding/captionPassthrough.test.ts',
  ),
  shown('cover_art_left_out', 'cover art', REAL),
  shown(
    'cues_outside_cut',
    'cues before start_seconds or after end_seconds',
    'node/transcoder/pipeline/cuts.test.ts',
    'SCTE-35 cues; those outside are left out with a warning',
  ),
  planned('copy_not_possible', 'a copy with a field that changes it', {
    copy_if_possible: true,
    picture_transform: 'hflip',
    videoProfiles: [{ ...SMALL, video_codec: 'copy' }],
  }),
  shown(
    'cut_moved',
    'copied video that cannot begin at start_seconds',
    'node/transcoder/pipeline/copies.test.ts',
    'begins with the key frame before start_seconds',
  ),
  shown('data_left_out', 'a data stream', REAL, 'a broadcast stream: DVB subtitles and data'),
  shown('dvb_subtitles_left_out', 'DVB subtitles, without ts_profile dvb', REAL),
  shown('dynamic_metadata_left_out', 'HDR10+ or Dolby Vision', 'node/transcoder/plan/hdr.test.ts'),
  planned('end_after_source', 'end_seconds after the source’s end', { end_seconds: 1000, videoProfiles: [SMALL] }),
  planned('stills_left_out', 'a still after the end', {
    stills: [{ at_seconds: [0, 100] }],
    videoProfiles: [SMALL],
  }),
  shown('preview_left_out', 'an audio file as the source', 'node/transcoder/extracts/waveform.test.ts'),
  shown('further_video_left_out', 'a second video stream', REAL),
  shown('id3_left_out', 'timed ID3', LEFT_OUT),
  shown('klv_left_out', 'KLV metadata', LEFT_OUT),
  planned(
    'other_programs_left_out',
    'a transport stream of two programs',
    { program_number: 1, videoProfiles: [SMALL] },
    { source: 'programs' },
  ),
  shown('picture_subtitles_left_out', 'subtitles of Blu-ray or DVD', LEFT_OUT),
  planned('scte35_left_out', 'cues without scte35_passthough', { ...SILENT, ...TS }, { source: 'cues' }),
  shown('teletext_left_out', 'teletext, without ts_profile dvb', 'node/transcoder/encoding/broadcast.test.ts'),
  shown('text_subtitles_left_out', 'text subtitles of a single file', REAL),
  shown('timecode_left_out', 'a timecode track', REAL),
  shown('unknown_stream_left_out', 'a stream of an unknown kind', LEFT_OUT),
  shown('unreadable_audio_left_out', 'audio of a codec that cannot be read', LEFT_OUT),
]

const DAMAGE = 'node/transcoder/pipeline/sources/damaged.test.ts'
const damage: Row[] = [
  shown(
    'audio_ends_before_video',
    'audio that ends before the first frame',
    'node/transcoder/pipeline/sources/shortAudio.test.ts',
  ),
  shown(
    'audio_format_changes',
    'audio that goes from 5.1 to 2.0 and back, with the times',
    'node/transcoder/pipeline/audioFormatChanges.test.ts',
  ),
  shown(
    'audio_is_data',
    'Dolby E in PCM that no profile selects',
    'node/transcoder/pipeline/sources/dataInAudio.test.ts',
  ),
  shown('audio_gaps_filled', 'missing audio, with its times', DAMAGE),
  shown('decode_errors', 'damaged packets, with their count and times', DAMAGE),
  shown(
    'output_differs',
    'an output that lasts longer than its source, or has more bits than were asked for',
    'node/transcoder/pipeline/outputCheck.test.ts',
  ),
  shown('frames_concealed', 'frames with missing parts, with their count and times', DAMAGE),
  shown(
    'stream_ends_early',
    'a used stream that the program map no longer lists',
    'node/transcoder/formats/mpegts/stableMap.test.ts',
  ),
]

const rotated = { video_aspect_ratio: 'rotate_counterclockwise + invert_aspect_ratio' }
const video: Row[] = [
  shown(
    'access_units_late',
    'an encoder that exceeds its constant rate',
    'node/transcoder/pipeline/lateAccessUnits.test.ts',
  ),
  shown('alpha_not_kept', 'a transparent source', 'node/transcoder/encoding/video/alpha.test.ts'),
  planned(
    'bars_added',
    'an aspect ratio that mpeg2 cannot state',
    { ...SILENT, video_codec: 'mpeg2', videoProfiles: [{ width: 180, height: 144, video_bitrate: 1000 }] },
    { source: 'scope' },
  ),
  shown('blanking_removed', '608 or 512 lines', 'node/transcoder/encoding/video/blanking.test.ts'),
  shown('clock_jumps', 'a transport stream whose clock jumps', 'node/transcoder/pipeline/clockJumps.test.ts'),
  shown(
    'codec_changes',
    'a transport stream whose streams change their codec',
    'node/transcoder/pipeline/sources/codecChanges.test.ts',
  ),
  planned('colors_not_converted', 'HDR, and an ffmpeg without zscale', SILENT, { source: 'hdr', without: 'zscale' }),
  planned(
    'deinterlaced',
    'an interlaced source with force_progressive',
    { ...SILENT, force_progressive: true },
    { source: 'fields' },
  ),
  planned('detelecined', 'film with 3:2 pulldown', { ...SILENT, auto_detelecine_flag: true }, { source: 'film' }),
  planned('extreme_pixel_aspect', 'samples wider than 2:1', {
    ...SILENT,
    videoProfiles: [{ width: 100, height: 180 }],
  }),
  shown(
    'files_joined',
    'files that were put one behind the other',
    'node/transcoder/pipeline/sources/furtherFiles.test.ts',
  ),
  shown(
    'first_frame_held',
    'a recording whose video begins long after its sound',
    'node/transcoder/pipeline/sources/midGroup.test.ts',
  ),
  shown('frame_rate_assumed', 'a source that states no frame rate', LEFT_OUT),
  shown('frame_rate_reduced', 'more than 300 frames per second', 'node/transcoder/encoding/video/frameRates.test.ts'),
  planned(
    'frame_rate_snapped',
    '26 frames per second with keep_fps false',
    { ...SILENT, keep_fps: false },
    { source: 'odd' },
  ),
  planned('gamut_converted', 'SDR in BT.2020', SILENT, { source: 'wide' }),
  planned('gop_clamped', 'mpeg2 with a GOP of 1500 frames', {
    ...SILENT,
    video_codec: 'mpeg2',
    gop_length: 60,
    videoProfiles: [{ video_bitrate: 1000 }],
  }),
  planned(
    'hdr_not_kept',
    'HDR, and an ffmpeg whose hevc has 8 bits',
    { ...SILENT, video_codec: 'hevc' },
    { source: 'hdr', without: 'hevcMain10', also: ['tone_mapped'] },
  ),
  planned('ip_distance_clamped', 'an ip_distance longer than the GOP', { gop_length: 0.08, ip_distance: 8 }),
  planned('no_telecine', 'auto_detelecine_flag without pulldown', { auto_detelecine_flag: true }),
  planned('pictures_repeated', 'mpeg2 at half of 25 frames per second', {
    ...SILENT,
    video_codec: 'mpeg2',
    videoProfiles: [{ video_bitrate: 1000, video_framerate: '1/2x' }],
  }),
  planned(
    'size_rounded',
    'a source of odd size',
    { ...SILENT, videoProfiles: [{ width: 0, height: 0 }] },
    { source: 'uneven_size' },
  ),
  planned('size_turned', 'a rotation, and a profile that lies across', { ...SILENT, ...rotated }),
  shown('source_mostly_gaps', 'two frames, a day apart', 'node/transcoder/plan/planJob.test.ts'),
  shown(
    'source_range_changes',
    'full range, then limited range',
    'node/transcoder/pipeline/sources/changingFrames.test.ts',
  ),
  shown('source_size_changes', 'frames of another size', 'node/transcoder/pipeline/sources/changingFrames.test.ts'),
  planned('tone_mapped', 'HDR as SDR', SILENT, { source: 'hdr' }),
  shown('variable_frame_rate', 'a variable frame rate', 'node/transcoder/encoding/sourceFormats.test.ts'),
]

const LARGE = { width: 0, height: 360, video_bitrate: 900 }
const ladder: Row[] = [
  planned('rung_at_source_size', 'allow_upscaling false, and every profile larger', {
    ...SILENT,
    allow_upscaling: false,
    videoProfiles: [LARGE],
  }),
  planned('rung_left_out', 'allow_upscaling false, and one profile larger', {
    ...SILENT,
    allow_upscaling: false,
    videoProfiles: [LARGE, {}],
  }),
  planned('upscaled', 'a profile larger than the source', { ...SILENT, videoProfiles: [LARGE] }),
  planned('video_profile_left_out', 'a source without video', { audio_output_path: 'audio' }, { source: 'song' }),
]

const AC3 = { audio_codec: 'ac3', audio_bitrate: '192' }
const audio: Row[] = [
  planned('audio_channels_silent', '5.1 of a stereo source', {
    audioProfiles: [{ audio_channels: '6', audio_bitrate: '384' }],
  }),
  shown('audio_layout_unknown', 'nine channels without a layout', 'node/transcoder/plan/downmix.test.ts'),
  planned(
    'dialnorm_clamped',
    'a level that AC-3 cannot state',
    { audioProfiles: [AC3], audio_volume: 10, videoProfiles: [SMALL] },
    { source: 'dolby' },
  ),
  planned('dialnorm_not_in_source', 'AC-3 of a source without a dialogue level', { audioProfiles: [AC3] }),
  planned(
    'dialnorm_shifted',
    'another volume',
    { audioProfiles: [AC3], audio_volume: 50, videoProfiles: [SMALL] },
    { source: 'dolby' },
  ),
  shown(
    'loudness_limited',
    'peaks that are limited to reach loudness_lufs',
    'node/transcoder/encoding/audio/loudness.test.ts',
  ),
  shown('loudness_not_measured', 'no measurement of the source', 'node/transcoder/plan/loudnessGain.test.ts'),
  shown('loudness_not_reached', 'a target beyond what peaks allow', 'node/transcoder/encoding/audio/loudness.test.ts'),
  shown('loudness_of_silence', 'a silent source', 'node/transcoder/encoding/audio/loudness.test.ts'),
]

const CUES = 'node/transcoder/plan/cuePlan.test.ts'
const cues: Row[] = [
  shown('cue_pids_merged', 'cues on two PIDs', CUES),
  shown('cues_damaged', 'a cue with a wrong CRC', CUES),
  shown('cues_limited', 'more than 2,000 cues, in manifests', 'node/transcoder/pipeline/cueLimit.test.ts'),
  planned('no_cues', 'scte35_passthough of a source without cues', { ...TS, scte35_passthough: true }),
  shown('splice_points_limited', 'more than 2,000 splice points', CUES),
  shown('splice_schedule', 'splice_schedule commands', CUES),
]

const segmented: Row[] = [
  planned(
    'audio_selections_differ',
    'profiles that select audio of different source streams',
    {
      ...HLS,
      separate_audio: true,
      audioProfiles: TWO,
      videoProfiles: ['0', '1'].map((audio_profiles) => ({ ...SMALL, audio_profiles })),
    },
    { source: 'tracks' },
  ),
  planned(
    'audio_separated',
    'two audio tracks in segments of transport streams',
    { ...HLS, audioProfiles: TWO, videoProfiles: [SMALL] },
    { source: 'tracks' },
  ),
  shown(
    'deadline_unlikely',
    'fewer transcoders than its deadline_seconds take',
    'node/transcoder/division/plan/deadlineDivision.test.ts',
  ),
  planned('not_divided', 'chunks of mpeg2', { ...TS, video_codec: 'mpeg2', max_chunk_seconds: 10 }),
  planned('segment_length_snapped', 'a segment_length between whole GOPs', { ...HLS, segment_length: 1.4 }),
  planned('segments_are_cmaf', 'hevc in HLS', { ...HLS, video_codec: 'hevc' }),
  shown(
    'subtitles_truncated',
    'more than 16 MB of subtitles',
    'node/transcoder/pipeline/sources/textSubtitles.test.ts',
  ),
]

export const warnings: Row[] = [...request, ...source, ...damage, ...video, ...ladder, ...audio, ...cues, ...segmented]
