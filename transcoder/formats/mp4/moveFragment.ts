// In charge of: moving a movie fragment to a later time (ISO/IEC 14496-12, 8.8.12).
// Not in charge of: its samples (movieFragment.ts).
import { FormatError } from '../formatError.ts'
import { findBox, viewOf } from './boxReader.ts'

const MAX_SHORT_TIME = 2 ** 32 - 1

/** `moof` is the whole box. `ticks` are added to its decode time. */
export function moveFragment(moof: Uint8Array, ticks: number): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(moof)
  const tfdt = findBox(copy.subarray(8), 'traf', 'tfdt')
  if (tfdt === null || tfdt.length < (tfdt[0] === 1 ? 12 : 8))
    throw new FormatError('damaged', 'The encoder wrote a movie fragment without a time.')
  const view = viewOf(tfdt)
  if (tfdt[0] === 1) view.setBigUint64(4, view.getBigUint64(4) + BigInt(ticks))
  else if (view.getUint32(4) + ticks > MAX_SHORT_TIME)
    throw new FormatError('damaged', 'The time of a movie fragment does not fit into its box.')
  else view.setUint32(4, view.getUint32(4) + ticks)
  return copy
}
