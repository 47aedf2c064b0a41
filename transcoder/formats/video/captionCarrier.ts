// In charge of: a video that carries cc_data and shows nothing: MPEG-2 intra frames of 16 × 16 pixels with ATSC A/53 user
// data, from which ffmpeg takes the captions of an output's frames.
// Not in charge of: the captions (formats/cea).

/** Sequence header and extension: 16 × 16, 25 frames per second. The times of its frames are set by number. */
const SEQUENCE = '000001b301001013ffffe018000001b5148a000100000000'
/** Picture header and coding extension: an intra frame. */
const PICTURE = '00000100000ffff8000001b58ffff3418000'
/** A slice with one black macroblock. */
const SLICE = '0000010113f87d294888'
/** user_data_start_code, ATSC1_data (A/53 part 4, 6.2.2): cc_data. */
const USER_DATA = '000001b24741393403'

const [beginning, end] = [fromHex(SEQUENCE + PICTURE + USER_DATA), fromHex(`ff${SLICE}`)]

export function carrierFrame(ccData: Uint8Array): Uint8Array {
  const frame = new Uint8Array(beginning.length + 2 + ccData.length + end.length)
  frame.set(beginning)
  // process_cc_data_flag, cc_count; em_data.
  frame.set([0x80 | 0x40 | (ccData.length / 3), 0xff], beginning.length)
  frame.set(ccData, beginning.length + 2)
  frame.set(end, beginning.length + 2 + ccData.length)
  return frame
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16))
}
