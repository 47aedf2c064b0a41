// In charge of: the fields of stills, animated_preview and waveform.
import * as z from 'zod/mini'
import { _default as withDefault } from 'zod/mini'
import * as limits from '../../limits.ts'
import { CUT_TIME } from '../cutTime.ts'
import {
  booleanWithDefault,
  enumWithDefault,
  field,
  numberWithDefault,
  oneOf,
  optionalNumber,
  optionalText,
  textFromNumber,
  type Fields,
} from './field.ts'

/** A place in the outputs: as in start_seconds. */
const timeInOutput = z.union([z.number().check(z.gte(0), z.lte(999_999)), z.string().check(z.regex(CUT_TIME))])
const TIME_EXAMPLE = 'seconds, or a time like "00:01:30.480" or "00:01:30:12"'
const COLOR = /^#[0-9a-f]{6}([0-9a-f]{2})?$/i
const colorWithDefault = (value: string) =>
  field(withDefault(z.string().check(z.regex(COLOR)), value), {
    expects: 'a colour like "#003366", or with its opacity "#00336680"',
  })
const numberAsTextWithDefault = <const V extends string>(values: readonly V[], value: NoInfer<V>) =>
  field(withDefault(z.pipe(textFromNumber, z.enum(values)), value), oneOf(values))

export const STILL_FORMATS = ['jpeg', 'webp', 'avif'] as const
export const PREVIEW_FORMATS = ['mp4', 'gif', 'webp'] as const
export const WAVEFORM_FORMATS = ['json', 'dat', 'png'] as const

/** Element of stills. */
export const stillsFields = {
  at_seconds: {
    ...field(
      z.optional(z.union([timeInOutput, z.array(timeInOutput).check(z.minLength(1), z.maxLength(limits.MAX_STILLS))])),
      { expects: `${TIME_EXAMPLE}, or a list of 1 to ${limits.MAX_STILLS} of them` },
    ),
    meaning: 'One image for each of these times of the outputs.',
    label: 'At (s)',
    hint: 'Seconds or timecodes of the outputs, separated by commas: one image each.',
  },
  every_seconds: {
    ...optionalNumber({ ...limits.STILL_INTERVAL, unit: 'seconds' }),
    meaning: 'One image at the beginning, then one after each interval.',
    label: 'Every (s)',
    hint: 'One image after each interval.',
  },
  count: {
    ...optionalNumber({ ...limits.STILL_COUNT, integersOnly: true }),
    meaning: 'This many images, each from the middle of one of as many equal parts.',
    label: 'Number',
    hint: 'That many images, spread evenly.',
  },
  width: {
    ...optionalNumber({ ...limits.WIDTH, integersOnly: true, unit: 'pixels' }),
    meaning: 'Width in square pixels; absent = follows the height, or the source. With both, the image fits inside.',
  },
  height: {
    ...optionalNumber({ ...limits.HEIGHT, integersOnly: true, unit: 'pixels' }),
    meaning: 'Height in square pixels; absent = follows the width, or the source.',
  },
  format: {
    ...enumWithDefault(STILL_FORMATS, 'jpeg'),
    meaning: 'Image format. avif needs an ffmpeg with libaom.',
  },
  quality: {
    ...numberWithDefault({ ...limits.STILL_QUALITY, integersOnly: true }, 90),
    meaning: 'Compression: 1 = smallest, 100 = best.',
  },
  output: {
    ...optionalText(limits.MAX_LENGTH.path_bytes),
    meaning:
      'Path below bucket_output_path; several images get numbers, like cover_0001.jpg. Absent = derived from the source.',
    label: 'Name',
    hint: 'File name, like cover.jpg. Several images get numbers. Empty = derived from the source.',
  },
} satisfies Fields

export const animatedPreviewFields = {
  format: {
    ...enumWithDefault(PREVIEW_FORMATS, 'mp4'),
    meaning: 'File format. gif and webp loop by themselves, mp4 if its player is told to.',
  },
  seconds: {
    ...numberWithDefault({ ...limits.PREVIEW_SECONDS, unit: 'seconds' }, 4),
    meaning: 'Length of the preview.',
    label: 'Length (s)',
  },
  parts: {
    ...numberWithDefault({ ...limits.PREVIEW_PARTS, integersOnly: true }, 4),
    meaning: 'Number of excerpts of equal length, spread over the video.',
  },
  start_seconds: {
    ...field(z.optional(timeInOutput), { expects: TIME_EXAMPLE }),
    meaning:
      'Time of the outputs from which the excerpts are spread; with parts 1, where the excerpt begins. Absent = 0.',
    label: 'Start',
  },
  width: {
    ...numberWithDefault({ ...limits.PREVIEW_WIDTH, integersOnly: true, unit: 'pixels' }, 320),
    meaning: 'Width in square pixels; the height is in proportion.',
  },
  frames_per_second: {
    ...numberWithDefault(limits.PREVIEW_RATE, 10),
    meaning: 'Frame rate; never above the source’s.',
  },
} satisfies Fields

export const waveformFields = {
  format: {
    ...enumWithDefault(WAVEFORM_FORMATS, 'json'),
    meaning: 'json and dat = audiowaveform data, version 2, for peaks.js; png = an image.',
  },
  source_stream: {
    ...numberWithDefault({ ...limits.SOURCE_STREAM, integersOnly: true }, 1),
    meaning: 'Audio stream of the source, from 1.',
    label: 'Source audio stream',
  },
  samples_per_pixel: {
    ...optionalNumber({ ...limits.SAMPLES_PER_PIXEL, integersOnly: true }),
    meaning: 'Audio samples per pair of peaks; absent = 256, or by pixels_per_second.',
  },
  pixels_per_second: {
    ...optionalNumber({ ...limits.PIXELS_PER_SECOND, integersOnly: true }),
    meaning: 'Pairs of peaks per second, instead of samples_per_pixel.',
  },
  bits: {
    ...numberAsTextWithDefault(['8', '16'], '8'),
    meaning: 'Resolution of the peaks.',
  },
  split_channels: {
    ...booleanWithDefault(false),
    meaning: 'true = each channel has its own peaks; false = their mean.',
  },
  width: {
    ...numberWithDefault({ ...limits.WAVEFORM_WIDTH, integersOnly: true, unit: 'pixels' }, 800),
    meaning: 'Width of the image; png only.',
  },
  height: {
    ...numberWithDefault({ ...limits.WAVEFORM_HEIGHT, integersOnly: true, unit: 'pixels' }, 240),
    meaning: 'Height of the image; png only.',
  },
  background_color: {
    ...colorWithDefault('#ffffff'),
    meaning: 'Colour behind the waveform; png only.',
    label: 'Background',
  },
  waveform_color: {
    ...colorWithDefault('#003366'),
    meaning: 'Colour of the waveform; png only.',
    label: 'Waveform colour',
  },
} satisfies Fields
