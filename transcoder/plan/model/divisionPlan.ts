// In charge of: how a job is divided into parts, and what one part makes.
// Not in charge of: choosing it (plan/division/), the plan of one part (plan/division/partPlan.ts).

/**
 * The parts of a divided job. A chunk is a range of the output's video, of whole segments, which one task encodes for all
 * renditions. One more part makes everything else: audio, captions, thumbnails, stills.
 */
export interface DivisionPlan {
  /**
   * The first full segment of each chunk, counted from 0 on the regular grid (multiples of `segmentFrames`; splice points
   * do not count). Ascending, the first is 0. A chunk ends where the next one begins, the last one with the source.
   */
  chunks: number[]
  /** In which one transcoder is predicted to make all chunks and the rest. Missing = not predicted. */
  seconds?: number | undefined
  /** In which it is predicted to take the samples of the bitrate; 0 = none are taken. Missing = not predicted. */
  samplingSeconds?: number | undefined
  /** Segments of single files, in chunks shorter than a client may ask for. Missing = the usual length (encodedSegments.ts). */
  segmentSeconds?: number | undefined
  /** The version of the source that the job was planned for: every part reads the same one. */
  source?: SourceVersion | undefined
  /** Parts before the chunks take the samples of the bitrate. Missing = the attempt that planned did it. */
  survey?: SurveyPlan | undefined
  /** Constant rate factor of each rendition's video, in place of an average bitrate; null = as without division. */
  rateFactors?: (number | null)[] | undefined
  /** The drawn subtitles of the source, which chunks do not read there. Missing = none are drawn. */
  subtitles?: StoredObject | undefined
}

/** An object that the dividing attempt stored (transcoder/division/workObjects.ts). */
export interface StoredObject {
  name: string
  bytes: number
  sha256: string
}

/** Samples of the bitrate, which parts take. */
export interface SurveyPlan {
  /** How many come before the chunks. */
  parts: number
  /** Rate factors with which they begin, in the order of the renditions that need one. */
  factors: number[]
}

export interface SourceVersion {
  /** Bytes; null = not stated. */
  size: number | null
  /** As the server or store states it; null = it does not. */
  etag: string | null
}

/** What one part makes. Derived from the plan (plan/division/partPlan.ts), never stored. */
export type PartPlan =
  /** `from`, `to`: as in `chunks`; null = to the end of the source. */
  | {
      kind: 'chunk'
      chunk: number
      from: number
      to: number | null
      seek?: ChunkSeek | null
      /**
       * Decoding begins this long before the chunk's first frame, with a key frame that is found when the chunk is made.
       * Missing = the index was not asked, or shows no such key frame: decoding begins some seconds earlier.
       */
      runInSeconds?: number
    }
  | { kind: 'rest' }

/**
 * Where a chunk of a source without an index begins to read, on the clock of its time stamps. It is found when the chunk is
 * made. null = at the beginning; missing = by the index of the source.
 */
export interface ChunkSeek {
  /** Seconds: decoding begins with this frame at the latest. */
  fromSeconds: number
  /** The place of that frame in the source. */
  fromByte: number
  /** Seconds at which ffmpeg's clock is 0 in a run over the whole source. */
  originSeconds: number
}
