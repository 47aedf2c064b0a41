// In charge of: the fields of the elements of inputs, videoProfiles and audioProfiles (specification 2.2).
import * as z from 'zod/mini'
import { _default as withDefault } from 'zod/mini'
import { AUDIO_CODECS, AUDIO_CONTAINERS } from '../../codecs.ts'
import * as limits from '../../limits.ts'
import { AUDIO_BITRATES } from '../rules/audioBitrates.ts'
import { areSourceChannels, SOURCE_CHANNELS } from '../sourceChannels.ts'
import {
  address,
  enumWithDefault,
  field,
  numberFromText,
  oneOf,
  optionalBoolean,
  optionalChoice,
  optionalCutTime,
  optionalEnum,
  optionalNumber,
  optionalText,
  requiredNumber,
  textFromNumber,
  type Fields,
} from './field.ts'

const SOURCE_STREAMS = ['1', '2', '3', '4', '5', '6', '7', '8'] as const

/** Element of inputs, an extension: one piece of a source that is joined from several. */
export const inputFields = {
  input: {
    ...address(),
    meaning: 'Address of this source, like https://… or s3://bucket/key (docs/stores.md).',
    label: 'Source',
  },
  start_seconds: {
    ...optionalCutTime(),
    meaning: 'First frame of this piece, counted from its source’s first frame. Absent = the beginning.',
    label: 'Start',
    hint: 'Seconds or a timecode, like 90, 00:01:30.480 or 00:01:30:12. Empty = the beginning.',
  },
  end_seconds: {
    ...optionalCutTime(),
    meaning: 'End of this piece; this frame is not included. Absent = the end of its source.',
    label: 'End',
    hint: 'The first frame that is left out. Empty = the end of the source.',
  },
  source_streams: {
    ...field(
      z.optional(z.partialRecord(z.enum(SOURCE_STREAMS), z.nullable(z.pipe(textFromNumber, z.enum(SOURCE_STREAMS))))),
      { expects: 'an object of streams from 1 to 8, like {"1": "3", "2": null}' },
    ),
    meaning:
      'Audio streams that have another number in this source: {"1": "3"} = its stream 3 where a profile has source_stream 1; null = silence. Absent = the same numbers.',
  },
} satisfies Fields

/** 2.2, element of videoProfiles. */
export const videoProfileFields = {
  output: {
    ...optionalText(limits.MAX_LENGTH.path_bytes),
    meaning: 'Path and file name of the output; empty or absent = derived from the source.',
    label: 'Name',
    hint: 'File name; in segmented output a directory. Empty = derived from the source.',
  },
  width: {
    ...requiredNumber({ ...limits.WIDTH, additionalValue: 0, integersOnly: true }),
    meaning: 'Width in pixels; 0 = follows the height, or the source. Required, unless the video is copied.',
    hint: 'In pixels; 0 = follows the height.',
  },
  height: {
    ...requiredNumber({ ...limits.HEIGHT, additionalValue: 0, integersOnly: true }),
    meaning: 'Height in pixels; 0 = follows the width, or the source. Required, unless the video is copied.',
    hint: 'In pixels; 0 = follows the width, or the source.',
  },
  video_bitrate_mode: {
    ...optionalEnum(['cbr', 'vbr', 'qvbr']),
    meaning: 'cbr = constant bitrate, vbr = variable, qvbr = constant quality; absent = vbr.',
    label: 'Rate control',
    hint: 'Variable, constant, or constant quality.',
    valueLabels: { vbr: 'VBR', cbr: 'CBR', qvbr: 'QVBR' },
  },
  video_bitrate: {
    ...field(z.pipe(numberFromText, z.number().check(z.gte(0))), {
      kind: 'number',
      expects: 'a number of kbps, at least 100',
      minimum: 100,
    }),
    meaning: 'Bitrate; the minimum depends on codec and size. Required, unless the video is copied.',
    label: 'Bitrate (kbps)',
    hint: 'The minimum depends on resolution and codec.',
  },
  video_framerate: {
    ...enumWithDefault(['1x', '1/2x', '2x'], '1x'),
    meaning: 'Frame rate relative to the source.',
    label: 'Frame rate',
    hint: 'Relative to the source.',
    valueLabels: { '1x': 'As the source', '1/2x': 'Half', '2x': 'Double' },
  },
  audio_profiles: {
    ...field(
      z.optional(
        z.pipe(
          z.transform((value: unknown) =>
            typeof value === 'number'
              ? String(value)
              : typeof value === 'string'
                ? value.replaceAll(' ', '').toLowerCase()
                : value,
          ),
          z.string().check(z.regex(/^$|^none$|^[0-7](,[0-7]){0,31}$/)),
        ),
      ),
      {
        expects: 'a position in audioProfiles from 0 to 7, several separated by commas, like "0,1", or "none"',
        minimum: 0,
        maximum: 7,
      },
    ),
    meaning: 'Positions in audioProfiles that this output carries; absent or empty = all, none = no audio.',
    label: 'Audio tracks',
    hint: 'Positions of audio tracks from 0, like 0,1; none = no audio. Empty = all.',
  },
  video_format: {
    ...optionalEnum(['progressive']),
    meaning: 'progressive = deinterlace this output.',
    label: 'Scan type',
    hint: 'Deinterlaces this rendition.',
    valueLabels: { progressive: 'Progressive' },
  },
  video_codec: {
    ...optionalEnum(['copy']),
    meaning: 'copy = keep the source’s video; absent = the job’s video_codec.',
    hint: 'Copy keeps the source’s video as it is.',
    valueLabels: { 'h.264': 'H.264', hevc: 'HEVC (H.265)', mpeg2: 'MPEG-2', copy: 'Copy' },
  },
} satisfies Fields

export const AUDIO_PURPOSES = [
  'main',
  'audio_description',
  'hearing_impaired',
  'clean_effects',
  'commentary',
  'dub',
] as const

/** 2.2, element of audioProfiles. */
export const audioProfileFields = {
  audio_codec: {
    ...enumWithDefault([...AUDIO_CODECS, 'copy'], 'aac'),
    meaning:
      'Audio codec. mp3 and pcm: audio files only (docs/audio.md); copy = keep the source’s stream (docs/copy.md).',
    label: 'Codec',
    valueLabels: {
      aac: 'AAC',
      ac3: 'Dolby Digital (AC-3)',
      mp2: 'MPEG Layer II (MP2)',
      mp3: 'MP3',
      opus: 'Opus',
      flac: 'FLAC',
      eac3: 'Dolby Digital Plus (E-AC-3)',
      pcm: 'PCM (WAV)',
      copy: 'Copy',
    },
  },
  audio_channels: {
    ...field(withDefault(z.pipe(textFromNumber, z.enum(['2', '6'])), '2'), oneOf(['2', '6'])),
    meaning: '2 = stereo, 6 = 5.1.',
    label: 'Channels',
    valueLabels: { '2': 'Stereo', '6': '5.1' },
  },
  audio_bitrate: {
    ...field(
      withDefault(z.pipe(textFromNumber, z.enum(AUDIO_BITRATES.map(String))), '256'),
      oneOf(AUDIO_BITRATES.map(String)),
    ),
    meaning: 'Bitrate in kbps, by codec and channels. No effect with flac and pcm, which are lossless.',
    label: 'Bitrate (kbps)',
  },
  primary_audio_downmix_to_stereo: {
    ...optionalBoolean(),
    meaning: 'true = downmix 5.1 to stereo, even with audio_channels 6.',
    label: 'Downmix to stereo',
    hint: 'Also when the track has 5.1 channels.',
    absent: false,
  },
  source_stream: {
    ...field(z.optional(z.pipe(textFromNumber, z.enum(SOURCE_STREAMS))), {
      kind: 'number',
      expects: 'the index of a source stream from 1 to 8',
      ...limits.SOURCE_STREAM,
    }),
    meaning: 'Audio stream of the source, from 1. Without it and source_channels, there is no audio.',
    label: 'Source audio stream',
    hint: 'Audio stream of the source, from 1. Empty = no audio.',
  },
  source_channels: {
    ...field(
      z.optional(
        z.pipe(
          z.transform((value: unknown) =>
            typeof value === 'number' ? String(value) : typeof value === 'string' ? value.replaceAll(' ', '') : value,
          ),
          z.string().check(z.regex(SOURCE_CHANNELS), z.refine(areSourceChannels)),
        ),
      ),
      {
        expects: `1, 2 or 6 channels of the source from 1 to ${limits.SOURCE_CHANNEL.maximum}, separated by commas, like "3,4", each with or without a stream from 1 to ${limits.SOURCE_CHANNEL_STREAM.maximum} before it, like "1:1,2:1"`,
      },
    ),
    meaning:
      'Single channels: "3,4" = of source_stream, "1:1,2:1" = channel 1 of streams 1 and 2; order: docs/audio.md. One channel goes to both sides. Absent = all channels of source_stream.',
    hint: 'Like 3,4 for channels of that stream, or 1:1,2:1 for channel 1 of streams 1 and 2. Empty = all of the stream.',
  },
  purpose: {
    ...optionalEnum(AUDIO_PURPOSES),
    meaning:
      'What the audio is for, as players are told (docs/audio.md): audio_description = for the visually impaired, clean_effects = without speech. Absent = as the source says.',
    hint: 'What players and receivers are told. Empty = as the source says.',
  },
  dolby_digital_dialnorm: {
    ...optionalNumber({
      ...limits.DIALNORM,
      integersOnly: true,
    }),
    meaning: 'Dialogue level (dialnorm) of ac3 and eac3; 0 = as in the source.',
    label: 'Dialogue level (dialnorm)',
    hint: 'For Dolby Digital and Dolby Digital Plus; 0 = as in the source.',
  },
  downmix: {
    ...optionalEnum(['lo_ro', 'lt_rt']),
    meaning: 'Downmix to stereo (ITU-R BS.775): lo_ro = plain, lt_rt = for matrix surround decoders. Absent = lo_ro.',
    hint: 'How surround audio is downmixed to stereo.',
    valueLabels: { lo_ro: 'Stereo (Lo/Ro)', lt_rt: 'Matrix surround (Lt/Rt)' },
  },
  downmix_lfe: {
    ...optionalBoolean(),
    meaning: 'true = include the LFE channel in a stereo downmix.',
    label: 'LFE in the downmix',
    hint: 'Adds the LFE channel to a stereo downmix.',
    absent: false,
  },
  optional: {
    ...optionalBoolean(),
    meaning:
      'true = leave this profile out, with a warning, if the source lacks its source_stream; otherwise the job fails.',
    hint: 'Leaves the track out when the source lacks this stream. Otherwise the job fails.',
    absent: false,
  },
  audio_container: {
    ...optionalEnum(AUDIO_CONTAINERS),
    meaning: 'Container of an audio file: opus has ogg (default) and webm; every other codec has one.',
    label: 'File format',
    hint: 'Of a file of this track alone.',
    valueLabels: {
      m4a: 'M4A',
      ac3: 'AC-3',
      mp2: 'MP2',
      mp3: 'MP3',
      ogg: 'Ogg',
      webm: 'WebM',
      flac: 'FLAC',
      eac3: 'E-AC-3',
      wav: 'WAV',
    },
  },
  audio_sample_rate: {
    ...optionalChoice(['44100', '48000', '96000']),
    meaning: 'Sample rate in Hz; absent = 48000. Others only for audio files without video (docs/audio.md).',
    label: 'Sample rate (Hz)',
    hint: 'Other than 48000 only for audio files without video.',
  },
  audio_bit_depth: {
    ...optionalChoice(['16', '24']),
    meaning: 'Bits per sample of flac and pcm; absent = 16.',
    label: 'Bits of a sample',
    hint: 'For FLAC and PCM. Empty = 16.',
  },
} satisfies Fields
