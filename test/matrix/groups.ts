// In charge of: all rows by group, and what the schema requires beyond them.
// Not in charge of: running them (runner.ts). A new group is a file in rows/ and a line here.
import type { Row } from './row.ts'
import { addresses } from './rows/addresses.ts'
import { audio } from './rows/audio.ts'
import { burnIn } from './rows/burnIn.ts'
import { captionFiles } from './rows/captionFiles.ts'
import { captions } from './rows/captions.ts'
import { color } from './rows/color.ts'
import { container } from './rows/container.ts'
import { copy } from './rows/copy.ts'
import { cues } from './rows/cues.ts'
import { extracts } from './rows/extracts.ts'
import { geometry } from './rows/geometry.ts'
import { inputs } from './rows/inputs.ts'
import { source } from './rows/source.ts'
import { logo } from './rows/logo.ts'
import { rate } from './rows/rate.ts'
import { scan } from './rows/scan.ts'
import { segmented } from './rows/segmented.ts'
import { service } from './rows/tsService.ts'
import { warnings } from './rows/warnings.ts'
import { audioFileBitrates, audioFiles } from './rows/audioFiles.ts'
import { audioSegments } from './rows/audioSegments.ts'
import { audioBitrates } from './rows/audioBitrates.ts'
import { coversValue, showValue, VALUES, type ParameterValue } from './parameterValues.ts'

export const GROUPS: Record<string, readonly Row[]> = {
  container,
  rate,
  scan,
  geometry,
  color,
  logo,
  captions,
  'caption-files': captionFiles,
  'burned-in-captions': burnIn,
  cues,
  copy,
  service,
  audio,
  'audio-bitrates': audioBitrates,
  'audio-files': audioFiles,
  'audio-file-bitrates': audioFileBitrates,
  segmented,
  'segments-without-video': audioSegments,
  extracts,
  source,
  inputs,
  addresses,
  warnings,
}

const ROWS = Object.values(GROUPS).flat()

function hasRow(value: ParameterValue, rows: readonly Row[]): boolean {
  return rows.some((row) => row.path === value.path && coversValue(row.value, value))
}

/** Sentences; empty if every value has a row, and every row belongs to a parameter. */
export function missingRows(values: readonly ParameterValue[] = VALUES, rows: readonly Row[] = ROWS): string[] {
  const without = values
    .filter((value) => !hasRow(value, rows))
    .map(({ path, value }) => `a value without a row: ${path} ${showValue(value)}`)
  const paths = new Set(values.map(({ path }) => path))
  const strangers = rows.filter((row) => !paths.has(row.path)).map((row) => `a row about no parameter: ${row.path}`)
  return [...without, ...strangers]
}
