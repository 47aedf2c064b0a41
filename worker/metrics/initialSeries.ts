// In charge of: series that are there from the beginning, with 0. A counter that appears with 1 has no increase for
// Prometheus, so that an alert would miss the first event.
// Not in charge of: families whose labels are known only once something happens (routes).
import { startFailureMessages } from '#contract/api/events.ts'
import { jobErrorPolicies } from '#contract/errorCodes.ts'
import type { CounterName, LabelsOf } from '#contract/api/metricFamilies.ts'

const each = <Label extends string>(label: Label, values: readonly string[]) =>
  values.map((value) => ({ [label]: value }) as Record<Label, string>)

const kinds = ['transcode', 'dry_run']
const errorCodes = Object.keys(jobErrorPolicies)

export const INITIAL_SERIES: { [Name in CounterName]?: LabelsOf<Name>[] } = {
  jobs_ended_total: kinds.flatMap((kind) => [
    { kind, state: 'completed', code: '' },
    { kind, state: 'cancelled', code: '' },
    ...errorCodes.map((code) => ({ kind, state: 'failed', code })),
  ]),
  attempts_started_total: each('kind', [...kinds, 'part']),
  attempts_lost_total: each('cause', ['transcoder_lost', 'evicted', ...errorCodes]),
  attempts_evicted_total: [{}],
  starts_failed_total: each('reason', Object.keys(startFailureMessages)),
  transcoder_cpu_seconds_total: each('outcome', ['finished', 'failed', 'lost', 'evicted', 'cancelled']),
  source_seconds_total: [{}],
  output_seconds_total: each('resolution', ['audio', 'sd', 'hd', 'uhd']),
  source_read_bytes_total: [{}],
  uploaded_bytes_total: [{}],
  store_errors_total: errorCodes.flatMap((code) => ['input', 'output'].map((side) => ({ side, code }))),
  jobs_refused_total: each('reason', ['spend_cap', 'active_jobs']),
  webhook_tries_total: each('result', ['delivered', 'postponed', 'failed']),
}
