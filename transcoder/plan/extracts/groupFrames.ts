// In charge of: which frames are read in one run of ffmpeg.
// Not in charge of: the runs (transcoder/extracts/extractor.ts).

export interface FrameRange {
  from: number
  /** Included. */
  to: number
}

/** Frames that are closer than `apart` share a range. */
export function groupFrames(frames: readonly number[], apart: number): FrameRange[] {
  const ranges: FrameRange[] = []
  for (const frame of frames.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && frame - last.to <= apart) last.to = frame
    else ranges.push({ from: frame, to: frame })
  }
  return ranges
}
