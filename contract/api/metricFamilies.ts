// In charge of: the metrics of GET /metrics: name, type, labels, help and buckets of each. The table of
// docs/monitoring.md and the tests of alert rules and dashboard read this list.
// Not in charge of: counting (worker/metrics), the text format (worker/metrics/metricsText.ts).

export const PREFIX = 'splicepoint_'

interface Family {
  type: 'counter' | 'gauge' | 'histogram'
  labels: readonly string[]
  help: string
}
interface Histogram extends Family {
  type: 'histogram'
  /** Upper bounds in seconds, ascending; the last bucket is +Inf. */
  buckets: readonly number[]
}

const REQUEST_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const WAIT_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]
const WORK_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 28_800]

const counter = (labels: readonly string[], help: string) => ({ type: 'counter', labels, help }) as const
const gauge = (labels: readonly string[], help: string) => ({ type: 'gauge', labels, help }) as const
const histogram = (labels: readonly string[], buckets: readonly number[], help: string) =>
  ({ type: 'histogram', labels, buckets, help }) as const

/** Every label has a bounded set of values: no ids, no accounts, no paths. */
export const FAMILIES = {
  build_info: gauge(['version', 'commit'], 'Always 1; the labels name what runs.'),
  jobs_active: gauge(['state'], 'Jobs that have not ended, by state.'),
  tasks_waiting: gauge(['kind'], 'Tasks that a free slot could begin now: job, dry_run, survey, part, assembly.'),
  queue_age_seconds: gauge(['kind'], 'How long the oldest of these tasks has been able to start.'),
  work_waiting_seconds: gauge([], 'Predicted time of one transcoder for the parts and surveys among them.'),
  slots: gauge([], 'Transcoders that can run at the same time; of registered ones, those that can take a job.'),
  slots_busy: gauge([], 'Transcoders that are running.'),
  starts_failing: gauge([], 'Waiting jobs whose start failed three or more times in a row.'),
  transcoders_idle: gauge([], 'Slots that can take a task and have none.'),
  transcoders_draining: gauge([], 'Registered transcoders that are stopping.'),
  transcoders_silent: gauge([], 'Transcoders that do not answer or cannot be used.'),
  transcoder_disk_free_bytes: gauge(['slot'], 'Free bytes of the work directory of a busy transcoder.'),
  webhooks: gauge(['state'], 'Webhook deliveries that wait for their next try, or have failed for good.'),
  database_read_seconds: gauge([], 'Duration of the database reads of this scrape.'),

  jobs_ended_total: counter(['kind', 'state', 'code'], 'Jobs that ended, by kind, state and error code.'),
  attempts_started_total: counter(['kind'], 'Attempts whose transcoder asked for its task.'),
  attempts_lost_total: counter(['cause'], 'Attempts that ended without a result: transcoder_lost, or an error code.'),
  attempts_evicted_total: counter([], 'Attempts that a stopping transcoder gave back.'),
  starts_failed_total: counter(['reason'], 'Attempts whose transcoder never asked for its task.'),
  transcoder_cpu_seconds_total: counter(['outcome'], 'CPU time of ended attempts, by how they ended.'),
  source_seconds_total: counter([], 'Duration of the sources of completed jobs.'),
  output_seconds_total: counter(['resolution'], 'Duration of the outputs of completed jobs, each rendition counted.'),
  stored_bytes_total: counter(['store'], 'Bytes of the outputs of completed jobs, by store.'),
  source_read_bytes_total: counter([], 'Bytes of sources that were sent to transcoders.'),
  uploaded_bytes_total: counter([], 'Bytes of completed uploads.'),
  store_errors_total: counter(
    ['side', 'code'],
    'Failed requests to the stores of sources (input) and outputs (output).',
  ),
  webhook_tries_total: counter(['result'], 'Tries to deliver a webhook: delivered, postponed, failed for good.'),
  jobs_refused_total: counter(['reason'], 'Requests for jobs that were refused: spend_cap, active_jobs.'),
  http_requests_total: counter(['method', 'route', 'status'], 'Answered requests, by route and class of status.'),

  http_request_duration_seconds: histogram(
    ['method', 'route'],
    REQUEST_SECONDS,
    'Time until the headers of an answer.',
  ),
  job_queue_seconds: histogram(['kind'], WAIT_SECONDS, 'How long jobs that could start waited for a transcoder.'),
  job_duration_seconds: histogram(['kind', 'state'], WORK_SECONDS, 'Time from the creation of a job to its end.'),
  job_phase_seconds: histogram(
    ['phase'],
    WORK_SECONDS,
    'Phases of completed jobs: start, analysis, encoding, upload, commit.',
  ),
  database_write_seconds: histogram([], REQUEST_SECONDS, 'Duration of the database write that stores request counts.'),
} as const satisfies Record<string, Family | Histogram>

export type FamilyName = keyof typeof FAMILIES
type NameOf<Type extends Family['type']> = {
  [Name in FamilyName]: (typeof FAMILIES)[Name]['type'] extends Type ? Name : never
}[FamilyName]
export type CounterName = NameOf<'counter'>
export type HistogramName = NameOf<'histogram'>
export type GaugeName = NameOf<'gauge'>
export type LabelsOf<Name extends FamilyName> = Record<(typeof FAMILIES)[Name]['labels'][number], string>

/** Durations are added up in whole milliseconds, so that sums are exact; the text has seconds. */
export const isInMilliseconds = (name: FamilyName): boolean => /_seconds(_total)?$/.test(name)
