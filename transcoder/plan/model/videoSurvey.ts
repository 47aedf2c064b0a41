// In charge of: what the packets of a source's video show, without decoding it.
// Not in charge of: reading them (transcoder/analysis/surveyVideo.ts), what follows for a copy (plan/copy/).

/** The arrays are in decoding order. Times in seconds: 0 = the first frame of the outputs without a cut. */
export interface VideoSurvey {
  /** When each frame is shown. */
  times: readonly number[]
  /** Bytes of each frame. */
  sizes: readonly number[]
  /** Positions in `times` of frames at which decoding can begin. Ascending. */
  keyFrames: readonly number[]
  /** Key frames that no later frame refers across: IDR pictures. Empty for MPEG-2, which has none. */
  closedKeyFrames: ReadonlySet<number>
  /** The end of the last frame. */
  endSeconds: number
  /** Sequence parameter sets that differ; 0 = none was found between the frames. */
  parameterSets: number
  /** The time at which decoding times go back; null = they never do. */
  backwardsAt: number | null
}
