// In charge of: what a person can do about each error code (worker/contract/errors.ts). Pure.
// Not in charge of: what went wrong: the error's own message says that.

const advice: Readonly<Record<string, string>> = {
  // Of requests.
  invalid_request: 'Correct the fields that are named and send it again.',
  unauthorized: 'Sign in with another key, or have a new one issued.',
  forbidden: 'Use a key that has this scope, or ask whoever issued yours.',
  not_found: 'It may have been removed, or belong to another account. Look for it in the job history.',
  method_not_allowed: 'This is not something that the address does; the documentation lists what it does.',
  conflict: 'Something else changed it in between. Load the page again and look at how it is now.',
  idempotency_conflict: 'The same request was sent before with other contents. Send it again as a new one.',
  job_finished: 'The job has ended; run it again if you want it once more.',
  job_active: 'Cancel the job first, or wait until it has ended.',
  rate_limited: 'Wait a moment; this page goes on by itself.',
  quota_exceeded:
    'Wait until some of it is done, delete uploads that are no longer needed, or close other pages that follow the same job.',
  gone: 'What was sent so far has been removed. Choose the file again to send it from its beginning.',
  unsupported_version: 'Update the program that sends the file: the service speaks version 1.0.0 of tus.',
  locked: 'The same file is being sent elsewhere. Close the other page, or wait for it to finish.',
  checksum_mismatch: 'The bytes changed on their way. Send the file again.',
  not_shareable: 'Wait until the job is completed. Outputs in your own store are shared from there.',
  stale_attempt: 'Another attempt took over; nothing needs to be done.',
  length_required: 'Send a file whose size is known.',
  too_large: 'Send less: the limits page says how much is accepted.',
  unsupported_media_type: 'Send JSON, or a file as it is.',
  range_not_satisfiable: 'The piece that was asked for lies beyond the end of the file. Load it from the start.',
  unavailable: 'The service is busy or restarting. Try again in a moment.',
  offline: 'Check your connection and whether the service runs; this page goes on by itself.',
  // Of jobs: the source.
  source_not_found: 'Check the address, the bucket and the key for typing errors, and that the file is still there.',
  source_forbidden: 'Check that the credentials may read this object, and that a signed address has not expired.',
  source_unreachable:
    'Open the address in a browser. If it works there, run the job again; if not, its server is down.',
  source_changed: 'The file was replaced while it was read. Run the job again when it is final.',
  source_incomplete: 'The connection to the source kept breaking off. Run the job again, or upload the file instead.',
  source_address_refused: 'Sources must be reachable from the internet: use a public address, or upload the file.',
  source_too_large: 'Use a shorter or smaller source, or cut it into parts.',
  source_not_media: 'Check that the address leads to the media file itself, not to a page about it.',
  source_damaged: 'Play the source to its end. If it stops or stutters there too, export it again.',
  source_unsupported:
    'Convert the source into a common format first, for example H.264 in MP4; where its server is at fault, upload the file.',
  logo_unavailable: 'Check the address of the logo: a PNG, JPEG or WebP picture of at most 5 MB.',
  no_video: 'The source has no picture. Ask for its sound alone with audio_output_path.',
  audio_stream_missing:
    'Choose an audio stream that the source has (the message says how many there are), or set optional on the audio profile: then the outputs are made without it.',
  program_missing: 'Choose a program_number that is in the transport stream; the message lists them.',
  // Of jobs: what was asked for.
  video_bitrate_too_low: 'Raise video_bitrate to the minimum that the message names, or make the picture smaller.',
  video_bitrate_too_high: 'Lower video_bitrate to the maximum that the message names.',
  frame_rate_unsupported: 'Set keep_fps to false, so that the nearest usual frame rate is taken, or change the codec.',
  output_path_conflict: 'Give each output a name of its own.',
  unsupported_combination: 'Change one of the fields that the message names.',
  // Of jobs: the work.
  encoder_failed: 'Try other settings, a smaller picture for example. If it fails again, report it with the job id.',
  encoder_killed: 'Run the job again. If it fails again, try a smaller picture: the machine may run out of memory.',
  output_incomplete: 'Run the job again. If it fails again, the source is probably damaged.',
  output_too_large: 'Lower the bitrate or cut the source: the output is larger than its store accepts.',
  output_forbidden: 'Check that the output credentials may write to this bucket and path.',
  output_refused: 'Choose other, shorter names for the outputs; the message says what the store does not take.',
  output_unreachable: 'Check the region and endpoint of the output store, then run the job again.',
  credentials_invalid: 'Check the credentials for typing errors, and that the key is still active.',
  credentials_expired: 'Get fresh credentials and run the job again with them.',
  bucket_not_found: 'Check the name of the bucket, and that the credentials belong to its account.',
  wrong_region: 'Set the region to the one that the bucket is in.',
  store_quota_exceeded: 'Make room in the store or raise its quota, then run the job again.',
  host_not_found:
    'Check the address for typing errors, and with a store its region and endpoint: there is no such host.',
  connection_refused: 'Check the port and that the server runs, then run the job again.',
  tls_failed: 'The server needs a certificate that browsers accept, or an http address where it has none.',
  clock_skew: 'The clock of the service and that of the store disagree. Try again; if it persists, tell the operator.',
  disk_full: 'Run the job again; if it fails again, ask for fewer renditions at once.',
  no_progress: 'Run the job again. If it stalls again, upload the file instead of giving its address.',
  deadline_exceeded: 'Shorten the input, ask for fewer renditions, or choose the quality "good", which is faster.',
  too_long_for_one_attempt:
    'Shorten the input, ask for fewer renditions, or choose the quality "good", which is faster.',
  attempts_exhausted: 'Run the job again. If it fails again, report it with the job id.',
  protocol_mismatch: 'The service is being updated. Run the job again in a few minutes.',
  task_refused: 'Report it with the job id: this is a fault of the service.',
  internal: 'Try again. If it fails again, report it with the job id: this is a fault of the service.',
}

/** null = a code that this page does not know; the message has to do. */
export function adviceFor(code: string): string | null {
  return Object.hasOwn(advice, code) ? (advice[code] ?? null) : null
}
