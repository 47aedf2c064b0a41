// In charge of: what each output_container means: a single file, or segmented output.
// Not in charge of: which codecs fit (codecs.ts), rules of segmented output (job/rules/segmentedOutput.ts).

/** Single files with video. */
export const fileContainers = {
  ts: { extension: 'ts', contentType: 'video/mp2t' },
  mp4: { extension: 'mp4', contentType: 'video/mp4' },
} as const

export type FileContainer = keyof typeof fileContainers
export const FILE_CONTAINERS = Object.keys(fileContainers) as FileContainer[]

interface ContainerRules {
  /** The file type when no flag asks for segmented output; null = always segmented. */
  file: FileContainer | null
  /** The segmented output that the container implies without any flag. */
  impliedSegmentation: 'hls' | 'smooth' | null
  /** When HLS segments are transport streams, if the codecs allow it: always, or unless DASH shares the segments. */
  transportStreams: 'always' | 'without_dash' | 'never'
}

/** By output_container, in the order in which documentation and messages list them. */
export const containers = {
  ts: { file: 'ts', impliedSegmentation: null, transportStreams: 'always' },
  mp4: { file: 'mp4', impliedSegmentation: null, transportStreams: 'never' },
  hls: { file: null, impliedSegmentation: 'hls', transportStreams: 'without_dash' },
  silverlight: { file: null, impliedSegmentation: 'smooth', transportStreams: 'never' },
} as const satisfies Record<string, ContainerRules>

export type Container = keyof typeof containers
export const CONTAINERS = Object.keys(containers) as Container[]

/** A job, or the readable members of an invalid one. */
interface Segmentation {
  output_container?: unknown
  segmented_output_hls?: unknown
  segmented_output_dash?: unknown
}

export function containerRules(container: unknown): ContainerRules | null {
  return CONTAINERS.includes(container as Container) ? containers[container as Container] : null
}

/** Whether the outputs are segmented, by container or by flag. */
export function isSegmented(job: Segmentation): boolean {
  return isSmooth(job) || hasHls(job) || job.segmented_output_dash === true
}

export function hasHls(job: Segmentation): boolean {
  return containerRules(job.output_container)?.impliedSegmentation === 'hls' || job.segmented_output_hls === true
}

/** [MS-SSTR] */
export function isSmooth(job: Segmentation): boolean {
  return containerRules(job.output_container)?.impliedSegmentation === 'smooth'
}

/** Whether HLS segments should be transport streams. The codecs may require another format. */
export function prefersTransportStreams(job: Segmentation): boolean {
  const wish = containerRules(job.output_container)?.transportStreams ?? 'never'
  return wish === 'always' || (wish === 'without_dash' && job.segmented_output_dash !== true)
}
