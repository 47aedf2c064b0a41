// In charge of: the closed list of error codes, their HTTP status, and whether a failed attempt is retried.
// Not in charge of: detecting errors, the fields that accompany a code (errors.ts).

/** Errors of a request. Each code has exactly one HTTP status. */
export const requestErrorStatus = {
  invalid_request: 400,
  unauthorized: 401,
  spend_cap_reached: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_conflict: 409,
  job_finished: 409,
  job_active: 409,
  not_shareable: 409,
  credentials_expired: 409,
  stale_attempt: 409,
  gone: 410,
  length_required: 411,
  unsupported_version: 412,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  locked: 423,
  checksum_mismatch: 460,
  rate_limited: 429,
  quota_exceeded: 429,
  internal: 500,
  unavailable: 503,
} as const

export type RequestErrorCode = keyof typeof requestErrorStatus

/**
 * Errors that end a job (status.error.code). `permanent` ones are never retried: another attempt would fail in the same
 * way. The others count as lost attempts and are retried within the limit.
 */
export const jobErrorPolicies = {
  source_not_found: { permanent: true },
  source_forbidden: { permanent: true },
  source_unreachable: { permanent: false },
  source_changed: { permanent: true },
  source_incomplete: { permanent: false },
  source_address_refused: { permanent: true },
  source_too_large: { permanent: true },
  // More seconds than MAX_SOURCE_SECONDS.
  source_too_long: { permanent: true },
  source_not_media: { permanent: true },
  source_unsupported: { permanent: true },
  source_damaged: { permanent: true },
  // More errors than the job's max_source_errors.
  too_many_source_errors: { permanent: true },
  // A store rejected the credentials or the bucket of `field`. Detected before encoding where possible.
  credentials_invalid: { permanent: true },
  credentials_expired: { permanent: true },
  bucket_not_found: { permanent: true },
  wrong_region: { permanent: true },
  store_quota_exceeded: { permanent: true },
  clock_skew: { permanent: false },
  // Connection errors of a source or a store, after they have lasted a minute (isLasting).
  host_not_found: { permanent: true },
  connection_refused: { permanent: true },
  tls_failed: { permanent: true },
  logo_unavailable: { permanent: true },
  // A file in `captions`: it cannot be fetched, or is no captions.
  captions_unavailable: { permanent: true },
  captions_unreadable: { permanent: true },
  // burn_in_captions: the source has no such track, or one that cannot be drawn.
  subtitle_track_missing: { permanent: true },
  subtitle_track_unsupported: { permanent: true },
  // The machine has no font to draw captions with.
  burn_in_unavailable: { permanent: true },
  // The source is whole, but the transcoder's ffmpeg is too old for it.
  engine_cannot_decode: { permanent: true },
  no_video: { permanent: true },
  audio_stream_missing: { permanent: true },
  audio_stream_undecodable: { permanent: true },
  program_missing: { permanent: true },
  video_bitrate_too_low: { permanent: true },
  video_bitrate_too_high: { permanent: true },
  frame_rate_unsupported: { permanent: true },
  cut_outside_source: { permanent: true },
  copy_not_possible: { permanent: true },
  output_path_conflict: { permanent: true },
  unsupported_combination: { permanent: true },
  encoder_failed: { permanent: true },
  // Caused by the machine or an operator, not by the job as far as known. The next attempt may succeed.
  encoder_killed: { permanent: false },
  output_incomplete: { permanent: false },
  output_too_large: { permanent: true },
  output_forbidden: { permanent: true },
  output_refused: { permanent: true },
  output_unreachable: { permanent: false },
  disk_full: { permanent: false },
  no_progress: { permanent: false },
  deadline_exceeded: { permanent: true },
  too_long_for_one_attempt: { permanent: true },
  attempts_exhausted: { permanent: true },
  // A file of the job makes the transcoder itself use too much processor time or memory. Final the second time
  // (task/lifecycle.ts): the first may have had another reason.
  source_too_costly: { permanent: false },
  // No transcoder has the build of ffmpeg any more with which the first parts of a divided job were made.
  build_unavailable: { permanent: true },
  protocol_mismatch: { permanent: false },
  // The service rejected a message of the transcoder, and would reject it again.
  task_refused: { permanent: true },
  internal: { permanent: false },
} as const

export type JobErrorCode = keyof typeof jobErrorPolicies

/**
 * Causes that a retry does not fix, but that may also be a restart of the server: they end a job only after lasting
 * this long.
 */
export const CONNECTION_RETRY_MS = 60_000
export const CONNECTION_ERRORS = [
  'host_not_found',
  'connection_refused',
  'tls_failed',
] as const satisfies JobErrorCode[]
export type ConnectionError = (typeof CONNECTION_ERRORS)[number]

export function isConnectionError(code: string): code is ConnectionError {
  return CONNECTION_ERRORS.some((each) => each === code)
}

export function isJobErrorCode(code: string): code is JobErrorCode {
  return Object.hasOwn(jobErrorPolicies, code)
}
