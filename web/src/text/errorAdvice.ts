// In charge of: the advice for each error code (contract/errors.ts). Pure.
// Not in charge of: the error message itself.

const advice: Readonly<Record<string, string>> = {
  // Errors of requests.
  invalid_request: 'Correct the fields named in the message and send the request again.',
  unauthorized: 'Sign in with another API key, or ask your administrator for a new one.',
  forbidden: 'Use a key with the permission named in the message, or ask your administrator for one.',
  not_found: 'It may have been deleted, or it belongs to another account. Look for it in the job list.',
  method_not_allowed: 'This address does not support that method. The API reference lists the ones it does.',
  conflict: 'It was changed elsewhere in the meantime. Reload the page to see its current state.',
  idempotency_conflict: 'The same idempotency key was used with another request. Send this one as a new request.',
  job_finished: 'The job has already ended. Run it again to repeat it.',
  job_active: 'Cancel the job first, or wait until it ends.',
  rate_limited: 'Wait a moment. This page continues by itself.',
  quota_exceeded:
    'Wait until running jobs end, delete uploads you no longer need, or close other pages on the same job.',
  spend_cap_reached:
    'Ask your administrator to raise the spend cap of the account, or wait for the next month. Dry runs are allowed.',
  gone: 'The upload has expired. Choose the file again to start over.',
  unsupported_version: 'Update the upload client: this service supports version 1.0.0 of tus.',
  locked: 'Another page is uploading the same file. Close it, or wait for it to finish.',
  checksum_mismatch: 'The data was damaged in transit. Upload the file again.',
  not_shareable: 'Wait until the job has completed. Share outputs in your own bucket from that bucket.',
  stale_attempt: 'A newer attempt has taken over. Nothing needs to be done.',
  length_required: 'Send a request with a Content-Length header.',
  too_large: 'Reduce the size. The limits page lists what is accepted.',
  unsupported_media_type: 'Send the request as JSON, or the file as its raw bytes.',
  range_not_satisfiable: 'The requested range lies beyond the end of the file. Load it from the start.',
  unavailable: 'The service is busy or restarting. Try again in a moment.',
  offline: 'Check your connection and that the service is running. This page continues by itself.',
  // Errors of jobs: the source.
  source_not_found: 'Check the address, bucket and key for typing errors, and that the file still exists.',
  source_forbidden: 'Check that the credentials can read this object, and that a signed address has not expired.',
  source_unreachable:
    'Open the address in a browser. If it works there, run the job again; otherwise its server is down.',
  source_changed: 'The file was replaced while it was being read. Run the job again when the file is final.',
  source_incomplete: 'The connection to the source dropped repeatedly. Run the job again, or upload the file instead.',
  source_address_refused: 'Use an address that is reachable from the internet, or upload the file.',
  source_too_long:
    'Set start_seconds and end_seconds, or use a shorter source. If it is not as long as that, its time stamps are wrong.',
  source_too_large: 'Use a shorter or smaller source, or split it into parts.',
  source_not_media: 'Check that the address leads to the media file itself, not to a web page about it.',
  source_damaged: 'Play the source to its end. If playback stops or stutters there too, export it again.',
  source_unsupported:
    'Convert the source to a common format first, for example H.264 in MP4. If its server is at fault, upload the file.',
  logo_unavailable: 'Check the address of the logo. It must be a PNG, JPEG or WebP image of at most 5 MB.',
  captions_unavailable: 'Check the address of the caption file. It may have at most 16 MiB.',
  captions_unreadable:
    'Correct the caption file at the line that the message names, or export it again as SubRip or WebVTT in UTF-8.',
  subtitle_track_missing: 'Choose a subtitle stream that exists; the message lists them.',
  subtitle_track_unsupported: 'Choose another subtitle stream, or bring the text along as a caption file.',
  burn_in_unavailable:
    'The operator has to install fonts on the transcoder, for example the packages fonts-noto-core and fonts-noto-cjk.',
  engine_cannot_decode: 'The operator has to install a newer ffmpeg. Without that audio, the job can be run now.',
  no_video: 'The source has no video. Remove the renditions to make audio only.',
  audio_stream_missing:
    'Choose an audio stream that exists (the message says how many there are), or set optional on the audio profile to leave it out.',
  audio_stream_undecodable:
    'Choose an audio stream that can be decoded (the message lists them), or set optional on the audio profile to leave it out.',
  too_many_source_errors:
    'Export the source again, or raise max_source_errors. The message says how many errors were found.',
  program_missing: 'Choose a program_number that exists in the transport stream. The message lists them.',
  // Errors of jobs: the settings.
  video_bitrate_too_low: 'Raise the video bitrate to the minimum named in the message, or reduce the resolution.',
  video_bitrate_too_high: 'Lower the video bitrate to the maximum named in the message.',
  copy_not_possible: 'Set copy_if_possible, or encode this stream. The message says why it cannot be copied.',
  cut_outside_source: 'Choose start_seconds and end_seconds within the source. The message says how long it is.',
  frame_rate_unsupported: 'Set keep_fps to false to use the nearest standard frame rate, or choose another codec.',
  output_path_conflict: 'Give each output a different name.',
  unsupported_combination: 'Change one of the fields named in the message.',
  // Errors of jobs: the encode and the outputs.
  encoder_failed: 'Try other settings, for example a lower resolution. If it fails again, report it with the job ID.',
  encoder_killed: 'Run the job again. If it fails again, try a lower resolution: the machine may be out of memory.',
  output_incomplete: 'Run the job again. If it fails again, the source is probably damaged.',
  output_too_large: 'Lower the bitrate or use a shorter source: the output is larger than its store accepts.',
  output_forbidden: 'Check that the output credentials can write to this bucket and path.',
  output_refused: 'Choose other, shorter output names. The message says what the store rejected.',
  output_unreachable: 'Check the region and endpoint of the output store, then run the job again.',
  credentials_invalid: 'Check the credentials for typing errors, and that the key is still active.',
  credentials_expired: 'Get new credentials and run the job again with them.',
  bucket_not_found: 'Check the bucket name, and that the credentials belong to its account.',
  wrong_region: 'Set the region to that of the bucket.',
  store_quota_exceeded: 'Free up space in the store or raise its quota, then run the job again.',
  host_not_found: 'Check the host name for typing errors, and for a store its region and endpoint.',
  connection_refused: 'Check the port and that the server is running, then run the job again.',
  tls_failed: 'The server needs a certificate from a public authority. Without one, use an http address.',
  clock_skew: 'The clocks of the service and the store differ. Try again; if it persists, contact the operator.',
  disk_full: 'Run the job again. If it fails again, request fewer renditions per job.',
  no_progress: 'Run the job again. If it stalls again, upload the file instead of giving its address.',
  deadline_exceeded: 'Use a shorter source, fewer renditions, or the faster quality "good".',
  too_long_for_one_attempt:
    'Let the job be divided (longest chunk empty), or use a shorter source, fewer renditions, or the faster quality "good".',
  attempts_exhausted: 'Run the job again. If it fails again, report it with the job ID.',
  source_too_costly:
    'Convert the source and the caption files with another program and send those. The phase in the message says which step was too much.',
  build_unavailable: 'Run the job again. The transcoders were updated while its parts were made.',
  protocol_mismatch: 'The service is being updated. Run the job again in a few minutes.',
  task_refused: 'Report this with the job ID: it is a fault of the service.',
  internal: 'Try again. If it fails again, report it with the job ID: it is a fault of the service.',
}

/** null = a code that this page does not know; only the message is shown. */
export function errorAdvice(code: string): string | null {
  return Object.hasOwn(advice, code) ? (advice[code] ?? null) : null
}
