// In charge of: a plan and an estimate as a transcoder posts them, for the jobs of tests.
import type { Estimate } from '#contract/task/dryRunEstimate.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

const video: Plan['outputs'][number]['video'] = {
  turn: 0,
  mirror: 'none',
  cropWidth: 1280,
  cropHeight: 720,
  width: 640,
  height: 360,
  pictureWidth: 640,
  pictureHeight: 360,
  barPercent: 0,
  sar: { num: 1, den: 1 },
  codec: 'h264',
  quality: 'good',
  mode: 'vbr',
  bitrateKbps: 600,
  maxKbps: 900,
  bufferBits: 1_800_000,
  frameRate: { num: 25, den: 1 },
  pictureRate: { num: 25, den: 1 },
  gopFrames: 50,
  bFrames: 2,
  deinterlace: 'none',
  scan: 'progressive',
  color: { matrix: 'bt470bg', primaries: 'bt470bg', transfer: 'smpte170m' },
  spliceFrames: [],
  logo: null,
  captions: false,
}

/** A plan with one file. */
export function taskPlan(path = 'film.mp4', change: Partial<Plan> = {}): Plan {
  return {
    version: 2,
    packaging: null,
    durationSeconds: 10,
    videoOffsetSeconds: 0,
    sourceAudio: [],
    pids: null,
    picture: {
      rgb: false,
      width: 1280,
      height: 720,
      plain: true,
      matrix: 'bt709',
      fullRange: false,
      primaries: 'bt709',
      transfer: 'bt709',
      conversion: 'none',
      hdr: null,
    },
    fields: { parity: 'auto', frames: 'interlaced', clearFlag: false },
    scaler: 'zscale',
    disableDrc: false,
    deepProbe: false,
    service: null,
    hevcCaptionsOption: false,
    cues: null,
    outputs: [
      {
        profile: 0,
        path,
        container: 'mp4',
        contentType: 'video/mp4',
        video,
        audio: [],
        durationSeconds: 10,
        expectedBytes: 1_000_000,
        headerReserveBytes: 100_000,
        muxRateKbps: null,
      },
    ],
    audioFiles: [],
    warnings: [],
    ...change,
  }
}

/** For a source of unknown duration. */
export const estimate: Estimate = {
  version: 1,
  probe: {
    formats: ['mpegts'],
    duration_seconds: null,
    size_bytes: null,
    bitrate_kbps: null,
    video: null,
    audio: [],
    cues: null,
    other: [],
  },
  plan: { duration_seconds: null, outputs: [] },
  predicted: {
    wall_seconds: null,
    cpu_seconds: null,
    output_bytes: null,
    cost_usd: null,
    store_writes: null,
    machine: { vcpus: 4, memory_gib: 12, disk_gb: 20 },
    prices: { vcpu_second: 0, memory_gib_second: 0, disk_gb_second: 0, store_writes_per_million: 0 },
  },
  warnings: [],
}
