// In charge of: the measured constants of an estimate: CPU time per frame, use of the cores, prices.
// Not in charge of: combining them (costModel.ts).
import type { Estimate } from '#contract/task/dryRunEstimate.ts'

/**
 * `encodeSeconds` and `decodeSeconds` of plan/codecs.ts are seconds of one CPU per million pixels. Measured on 100
 * frames of 720p (a fractal zoom, and a test card with noise) with ffmpeg 5.1.9 on one x86-64 server, then rounded
 * down, because real video is easier: a four-rung 1080p30 ladder of the test clips takes 1.41 CPU-seconds per second of
 * source at veryfast and 3.25 at medium, and this model gives 1.9 and 4.2. `npm run bench -- estimate` compares the
 * two. Codecs that were not measured lie in between:
 */
export const DECODE_OTHER = 0.005
/** Per million pixels of input and output together. */
export const SCALE = 0.0006
/** Per million pixels of the source. */
export const DEINTERLACE = 0.0024
export const TONE_MAP = 0.025
/** Per second and Mb/s of copied video: read, listed, packaged, hashed and sent. */
export const COPY = 0.003
/** Per track and second of audio: decoding, resampling and encoding. */
export const AUDIO_SECONDS = 0.02

/** The factors by which measured jobs differed from the model, for hard or easy video and other machines. */
export const CPU_SPREAD = { low: 0.4, high: 2 } as const
/** Probing, measuring, checking the outputs: in CPU-seconds and in seconds of wall time, independent of the length. */
export const FIXED_CPU_SECONDS = { low: 0.4, likely: 2, high: 5 } as const
export const FIXED_WALL_SECONDS = { low: 0.5, likely: 1.5, high: 10 } as const
/** Share of the machine's cores in use: low for one small rendition, high for a ladder. */
export const UTILISATION = { low: 0.45, likely: 0.9, high: 1 } as const

/** Cloudflare's list prices: Containers (active CPU; memory and disk while it runs) and R2 class A operations. */
export const listPrices: Estimate['predicted']['prices'] = {
  vcpu_second: 0.00002,
  memory_gib_second: 0.0000025,
  disk_gb_second: 0.00000007,
  store_writes_per_million: 4.5,
}
/**
 * Memory and disk of the instance type in wrangler.toml (standard-4). The transcoder reads the number of cores itself.
 */
export const listMachine = { memory_gib: 12, disk_gb: 20 } as const
