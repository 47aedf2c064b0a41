// In charge of: the NAL unit types that a survey of a video looks for, and the limits of its lists (ITU-T H.264, table 7-1;
// H.265, table 7-1).

interface NalUnitTypes {
  /** The type of a unit, from its first byte. */
  typeOf: (header: number) => number
  isSlice: (type: number) => boolean
  idr: readonly number[]
  /** Sequence parameter sets. */
  parameters: number
  /** SEI messages, which say where decoding can begin; null = other types of slices do. */
  recovery: number | null
}

export const NAL_UNIT_TYPES: Readonly<Record<'h264' | 'hevc', NalUnitTypes>> = {
  h264: {
    typeOf: (header) => header & 31,
    isSlice: (type) => type >= 1 && type <= 5,
    idr: [5],
    parameters: 7,
    recovery: 6,
  },
  hevc: {
    typeOf: (header) => (header >> 1) & 63,
    isSlice: (type) => type < 32,
    idr: [19, 20],
    parameters: 33,
    recovery: null,
  },
}

/** A day at 50 frames per second. The lists of more frames would fill the memory: their source is not copied. */
export const MAX_FRAMES = 4_500_000

/** More are as bad as this many. */
export const MAX_PARAMETER_SETS = 100
