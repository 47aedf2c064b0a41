// In charge of: the fields of the elements of captions, and of burn_in_captions.
import * as z from 'zod/mini'
import { CAPTION_FORMATS, canonicalLanguage, CHANNELS_608, EMBEDDED_CAPTIONS, LANGUAGE_TAG } from '../../captions.ts'
import * as limits from '../../limits.ts'
import { address, field, optionalBoolean, optionalEnum, optionalNumber, type Fields } from './field.ts'

/** An element of captions: a caption file beside the source. */
export const captionFields = {
  input: {
    ...address(),
    meaning:
      'Address of the caption file: http or https, an upload, an earlier output, or the provider of input with the same credentials (docs/captions.md).',
    label: 'Address',
  },
  language: {
    ...field(
      z.string().check(
        z.regex(LANGUAGE_TAG),
        z.refine((tag) => canonicalLanguage(tag) !== null),
      ),
      {
        expects:
          'a language of ISO 639, optionally with script, region and variants (BCP 47), like "de", "pt-BR" or "zh-Hant"',
      },
    ),
    meaning: 'Language of the text, for players.',
    hint: 'Like de, pt-BR or zh-Hant.',
  },
  label: {
    ...field(
      z.optional(
        z
          .string()
          .check(z.maxLength(limits.CAPTION_LABEL_CHARACTERS), z.regex(/^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}]*$/u)),
      ),
      {
        expects: `a string of at most ${limits.CAPTION_LABEL_CHARACTERS} characters without control characters`,
      },
    ),
    meaning: 'Name in players; empty or absent = the name of the language.',
    hint: 'Name in the menu of players. Empty = the name of the language.',
  },
  format: {
    ...optionalEnum(CAPTION_FORMATS),
    meaning: 'Format of the file; absent = detected from its content.',
    hint: 'Empty = found out from the file.',
  },
  offset_seconds: {
    ...optionalNumber({ ...limits.CAPTION_OFFSET, unit: 'seconds' }),
    meaning:
      'Seconds added to the times in the file. Absent = 0, and the programme start of scc, stl and ttml files is removed (docs/captions.md).',
    label: 'Offset (s)',
    hint: 'Added to the times in the file, instead of its programme start.',
  },
  default: {
    ...optionalBoolean(),
    meaning: 'true = players show this track unless the viewer chooses another one.',
    label: 'Shown by default',
    hint: 'Players show it unless the viewer chooses another track.',
    absent: false,
  },
  forced: {
    ...optionalBoolean(),
    meaning: 'true = only what viewers need even without subtitles, such as foreign speech.',
    hint: 'Only what every viewer needs, such as foreign speech.',
    absent: false,
  },
  hearing_impaired: {
    ...optionalBoolean(),
    meaning: 'true = also describes music and noises (SDH).',
    label: 'For the hard of hearing (SDH)',
    hint: 'Also describes music and noises.',
    absent: false,
  },
  embed: {
    ...optionalEnum(EMBEDDED_CAPTIONS),
    meaning: 'Also writes the captions into the video frames, in place of the source’s (docs/captions.md).',
    label: 'Inside the video',
    hint: 'Also in the frames, in place of the source’s captions.',
  },
  embed_channel: {
    ...optionalEnum(CHANNELS_608),
    meaning: 'Channel of embedded captions; absent = the first free one of CC1, CC3, CC2, CC4.',
    label: 'Channel inside the video',
    hint: 'Empty = the first free one.',
  },
} satisfies Fields

/** The captions that are drawn into the video: one of the two members. */
export const burnInFields = {
  captions: {
    ...optionalNumber({ ...limits.BURNED_IN_CAPTION, integersOnly: true }),
    meaning: 'Caption file to draw: its position in captions, from 0.',
    label: 'Caption file',
    hint: 'Position of a caption file above, from 0.',
  },
  source_track: {
    ...optionalNumber({ ...limits.SOURCE_TRACK, integersOnly: true }),
    meaning: 'Subtitle stream of the source to draw, from 1.',
    label: 'Subtitle stream of the source',
    hint: 'Subtitle stream of the source, from 1.',
  },
} satisfies Fields
