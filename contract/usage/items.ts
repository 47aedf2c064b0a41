// In charge of: the items of usage: their units, and the class of an output.
// Not in charge of: prices (priceList.ts), what a job uses (worker/usage/).

/** An item's name says its unit. `per` = stored milliseconds, bytes or pieces in one of it. */
export const usageItems = {
  jobs: { per: 1 },
  source_hours: { per: 3_600_000 },
  output_hours: { per: 3_600_000 },
  stills: { per: 1 },
  cpu_hours: { per: 3_600_000 },
  gb_in: { per: 1_000_000_000 },
  gb_out: { per: 1_000_000_000 },
} as const satisfies Record<string, { per: number }>

export type UsageItem = keyof typeof usageItems
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the object above
export const USAGE_ITEMS = Object.keys(usageItems) as [UsageItem, ...UsageItem[]]

/** Never charged: attempts that ended without a result, and dry runs. */
export const LOST_ATTEMPTS = 'lost attempts'
export const DRY_RUNS = 'dry runs'

/** Copied video and audio: nothing was encoded. */
export const COPY = 'copy'

/** Lines of the video standards, by which outputs are classed: an output belongs to the first that is not smaller. */
const LINES = [144, 240, 360, 480, 576, 720, 1080, 1440, 2160, 4320] as const
/** 1080 lines are coded as 1088. */
const TOLERANCE = 8

/**
 * Such as `1080p`. A portrait video has its width here, so that it costs what the same video costs in landscape; so has
 * a video that is wider than 16:9: 1920x800 is `1080p`.
 */
export function heightClass({ width, height }: { width: number; height: number }): string {
  const lines = Math.max(Math.min(width, height), (Math.max(width, height) * 9) / 16)
  return `${LINES.find((each) => lines <= each + TOLERANCE) ?? LINES.at(-1)}p`
}

/** One delivered rendition, as the transcoder reports it. */
export interface DeliveredRendition {
  codec: string
  /** null = audio alone. */
  video: { width: number; height: number } | null
  copied: boolean
  seconds: number
}

/** Such as `1080p h264`, `audio aac` or `copy`. */
export function renditionClass({ codec, video, copied }: Omit<DeliveredRendition, 'seconds'>): string {
  return copied ? COPY : `${video === null ? 'audio' : heightClass(video)} ${codec}`
}
