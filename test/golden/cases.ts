// In charge of: the jobs of the golden corpus: every job of the matrix, and pairs of features.
// Not in charge of: making them (record.ts).
import type { JobChange } from '../matrix/row.ts'
import { GROUPS } from '../matrix/groups.ts'
import { showValue } from '../matrix/parameterValues.ts'
import type { SourceName } from '../matrix/sourceClips.ts'

export interface GoldenCase {
  name: string
  job: JobChange
  source: SourceName
}

/** Each acts on other stages of a job than the others. `source`: the clip that has what the feature needs. */
const FEATURES: Record<string, { job: JobChange; source?: SourceName }> = {
  cut: { job: { start_time: 0.4, end_time: 1.6 } },
  logo: { job: { logo_url: 'https://cdn.example.test/logo.png', logo_opacity: 50 } },
  captions: { job: { closed_captions: true, audioProfiles: [{ optional: true }] }, source: 'captions' },
  hevc: { job: { video_codec: 'hevc' } },
  rotated: { job: { video_aspect_ratio: 'rotate_clockwise' } },
  progressive: { job: { force_progressive: true, audioProfiles: [{ optional: true }] }, source: 'fields' },
  rate: { job: { videoProfiles: [{ video_framerate: '1/2x' }] } },
  cbr: { job: { videoProfiles: [{ video_bitrate_mode: 'cbr' }] } },
  surround: { job: { audioProfiles: [{ audio_codec: 'ac3', audio_channels: '2' }] } },
  loudness: { job: { audioProfiles: [{ audio_loudness: -23 }] } },
  stills: { job: { stills: [{ count: 2 }] } },
  hls: { job: { segmented_output_hls: true, bucket_output_path: 'show' } },
}

/** The members of both jobs; profiles are merged by their place. */
function merged(a: JobChange, b: JobChange): JobChange {
  const profiles = (name: 'videoProfiles' | 'audioProfiles') => {
    const [first, second] = [a[name], b[name]]
    return first && second ? { [name]: first.map((each, at) => ({ ...each, ...second[at] })) } : {}
  }
  return { ...a, ...b, ...profiles('videoProfiles'), ...profiles('audioProfiles') }
}

function pairs(): GoldenCase[] {
  const names = Object.keys(FEATURES)
  return names.flatMap((name, at) =>
    names.slice(at + 1).flatMap((other) => {
      const [a, b] = [FEATURES[name]!, FEATURES[other]!]
      // No clip has what both of them need.
      if (a.source !== undefined && b.source !== undefined) return []
      return [{ name: `pair ${name} + ${other}`, job: merged(a.job, b.job), source: a.source ?? b.source ?? 'plain' }]
    }),
  )
}

/** Rows that measure the same job are one case. */
function ofMatrix(): GoldenCase[] {
  const cases = new Map<string, GoldenCase>()
  for (const [group, rows] of Object.entries(GROUPS))
    for (const { path, value, job, source = 'plain' } of rows) {
      const key = JSON.stringify([job, source])
      if (cases.has(key)) continue
      cases.set(key, { name: `${group} ${path} ${showValue(value)} #${cases.size}`, job, source })
    }
  return [...cases.values()]
}

export const CASES: readonly GoldenCase[] = [...ofMatrix(), ...pairs()]
