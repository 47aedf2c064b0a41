// In charge of: segmented output, and fields that act on it alone.
import { probeFile } from '../../test/node/media.ts'
import { found, refused, type Change, type Row } from '../row.ts'

/** A single file that carries its sound itself. */
function single(path: string, value: boolean, change: Change = { [path]: value }): Row {
  return {
    path,
    value,
    expected: 'one file with picture and sound',
    job: change,
    quick: true,
    measure: async (bench) => {
      const kinds = await Promise.all(
        (await bench.files()).map(async ({ file }) => (await probeFile(file)).streams.map((each) => each.codec_type)),
      )
      const measured = kinds.map((each) => each.join(' and ')).join('; ')
      return found(measured, measured === 'video and audio')
    },
  }
}

/** Without segments the field is said to have no effect; with them it needs a row that measures it. */
function due(path: string, value: unknown): Row {
  return {
    path,
    value,
    expected: 'segmented output',
    job: { [path]: value },
    measure: null,
    awaits: { path: 'segmented_output_hls', value: true },
  }
}

export const segmented: Row[] = [
  single('segmented_output_hls', false),
  single('segmented_output_dash', false),
  single('create_tar_file', false),
  due('create_tar_file', true),
  refused(
    { path: 'create_tar_file', value: true, job: { create_tar_file: true } },
    'unsupported_combination',
    'create_tar_file',
  ),
  single('master_variant_mode', false),
  due('master_variant_mode', true),
  single('separate_audio', false),
  due('separate_audio', true),
  due('segment_length', 0.01),
  due('segment_length', 60),
]
