import { RETENTION_DAYS } from '#contract/limits.ts'
import { expect, it } from 'vitest'
import { publishedLimits } from '#contract/api/publishedLimits.ts'

it('the published limits carry the numbers of the specification and the tables', () => {
  const limits = publishedLimits({
    maxActiveJobs: 10_000,
    maxStoredUploadBytes: null,
    maxSourceSeconds: null,
    requestsPerMinute: null,
    retentionDays: RETENTION_DAYS,
  })
  expect(JSON.parse(JSON.stringify(limits))).toEqual(limits)
  expect(limits).toMatchObject({
    body_bytes: 262_144,
    videoProfiles: { minimum: 0, maximum: 16 },
    audioProfiles: { minimum: 0, maximum: 8 },
    audio_volume: { minimum: 0, maximum: 200 },
    dolby_digital_dialnorm: { minimum: 0, maximum: 31 },
    audio_bitrate_kbps: { mp2: { '2': [64, 96, 128, 192, 256, 384], '6': [] } },
    resumable_upload: { bytes: 100_000_000_000, recommended_chunk_bytes: 83_886_080 },
    retention_days: { unfinished_uploads: 3, uploads: 7, outputs: 30, jobs: 90 },
  })
  const sizes = limits.video_bitrate_kbps.sizes
  expect(sizes.find((size) => size.width === 1920)).toEqual({
    width: 1920,
    height: 1080,
    'h.264': { minimum: { cbr: 2300, vbr: 1700 }, maximum: 300_000 },
    hevc: { minimum: { cbr: 1400, vbr: 1050 }, maximum: 60_000 },
    mpeg2: { minimum: { cbr: 3450, vbr: 2600 }, maximum: 80_000 },
  })
  expect(sizes.find((size) => size.width === 3840)).not.toHaveProperty('mpeg2')
})
