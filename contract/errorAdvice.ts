// In charge of: what to do about each error, and the page that explains it: in the API's answers, the CLI, the dashboard
// and docs/troubleshooting.md.
// Not in charge of: the codes (errorCodes.ts), the message of each case.
import type { JobErrorCode, RequestErrorCode } from './errorCodes.ts'

const PAGE = 'https://github.com/splicepoint/splicepoint/blob/main/docs/troubleshooting.md'

export const errorAdvice: Readonly<Record<RequestErrorCode | JobErrorCode, string>> = {
  // Errors of requests.
  invalid_request: 'Correct the named fields and send the request again.',
  unauthorized: 'Use another API key (curl: -u KEY:), token or password, or ask whoever gave you this one.',
  spend_cap_reached: 'Wait for the next month, or ask your administrator to raise the spend cap. Dry runs are allowed.',
  forbidden: 'Use a key with the named scope, or ask your administrator for one. For a download, read the job again.',
  not_found: 'Check the address, the number and the key. What was deleted is not in the list.',
  method_not_allowed: 'Use one of the methods that the message names.',
  conflict: 'Read the current state and continue from there; for an upload, Upload-Offset with HEAD.',
  idempotency_conflict: 'Send a new request with a new idempotency key.',
  job_finished: 'Read the job. To repeat it, create a new one.',
  job_active: 'Cancel the job first, or wait until it ends.',
  not_shareable: 'Wait until the job has completed. Share outputs in your own bucket from that bucket.',
  stale_attempt: 'Nothing needs to be done: a newer attempt has taken over, or the job has ended.',
  gone: 'Start a new upload.',
  length_required: 'Send a file of known size, with a Content-Length header (curl: --data-binary @file).',
  unsupported_version: 'Update the upload client, or send Tus-Resumable: 1.0.0.',
  too_large: 'Reduce the size; GET /api/v0/limits lists what is accepted. Upload files above 100 MB with tus.',
  unsupported_media_type:
    'Send JSON as application/json, a file as its raw bytes, a chunk as application/offset+octet-stream.',
  range_not_satisfiable: 'Read the size with HEAD, and request a range within it.',
  locked: 'Wait for the other request, or close the page or program that uploads the same file.',
  checksum_mismatch: 'Send the chunk again: it was damaged in transit.',
  rate_limited: 'Wait as long as Retry-After says, or ask the operator for a higher limit.',
  quota_exceeded: 'Wait until running jobs end, delete uploads, or close other pages on the same job.',
  unavailable: 'Try again in a moment, as Retry-After says.',
  // Errors of jobs: the source.
  source_not_found: 'Check the address, bucket and key for typing errors, and that the file still exists.',
  source_forbidden: 'Check that the credentials can read this object, and that a signed address has not expired.',
  source_unreachable:
    'Open the address in a browser. If it works there, run the job again; otherwise its server is down.',
  source_changed: 'Run the job again when the file is final.',
  source_incomplete: 'Run the job again, or upload the file instead.',
  source_address_refused:
    'Use a public address, or upload the file. An operator can permit hosts with ALLOW_PRIVATE_HOSTS.',
  source_too_long:
    'Set start_seconds and end_seconds, or use a shorter source. If it is short, its time stamps are wrong.',
  source_too_large: 'Use a shorter or smaller source, or split it into parts.',
  source_not_media: 'Check that the address leads to the media file itself, not to a web page about it.',
  source_damaged: 'Play the source to its end. If playback stops or stutters there too, export it again.',
  source_unsupported:
    'Convert the source first, for example to H.264 in MP4. If its server is at fault, upload the file.',
  too_many_source_errors: 'Export the source again, or raise max_source_errors.',
  logo_unavailable: 'Check the address of the logo. It must be a PNG, JPEG or WebP image of at most 5 MB.',
  captions_unavailable: 'Check the address and credentials of the caption file. It may have at most 16 MiB.',
  captions_unreadable:
    'Correct the line that the message names, or export the file again as SubRip or WebVTT in UTF-8.',
  subtitle_track_missing: 'Choose a subtitle stream that exists; the message lists them.',
  subtitle_track_unsupported: 'Choose another subtitle stream, or bring the text along as a caption file.',
  burn_in_unavailable:
    'The operator has to install fonts (fonts-noto-core, fonts-noto-cjk) on the transcoder, or use the container image.',
  engine_cannot_decode: 'The operator has to install a newer ffmpeg. Without that stream, the job can be run now.',
  no_video: 'Remove the video profiles to make audio only.',
  audio_stream_missing:
    'Choose an audio stream that exists (the message says how many), or set optional on the audio profile.',
  audio_stream_undecodable: 'Choose an audio stream that the message lists, or set optional on the audio profile.',
  program_missing: 'Choose a program_number that the message lists.',
  // Errors of jobs: the settings.
  video_bitrate_too_low: 'Raise the video bitrate to the minimum in the message, or reduce the resolution.',
  video_bitrate_too_high: 'Lower the video bitrate to the maximum in the message.',
  frame_rate_unsupported: 'Set keep_fps to false to use the nearest standard frame rate, or choose another codec.',
  cut_outside_source: 'Choose start_seconds and end_seconds within the source. The message says how long it is.',
  copy_not_possible:
    'Set copy_if_possible, choose another container or a longer segment_length, or encode this stream.',
  output_path_conflict: 'Give each output a different name.',
  unsupported_combination: 'Change one of the fields named in the message.',
  // Errors of jobs: the encode and the outputs.
  credentials_invalid: 'Check the credentials for typing errors, and that the key is still active.',
  credentials_expired: 'Get new credentials that outlive the job, and run it again with them.',
  bucket_not_found: 'Check the bucket name, and that the credentials belong to its account.',
  wrong_region: 'Set the region to that of the bucket.',
  store_quota_exceeded: 'Free up space in the store or raise its quota, then run the job again.',
  clock_skew: 'Run the job again. If it fails again, the operator has to check the clock of the service.',
  host_not_found: 'Check the host name for typing errors, and for a store its region and endpoint.',
  connection_refused: 'Check the port and that the server is running, then run the job again.',
  tls_failed: 'Install a certificate from a public authority. Without one, use an http address.',
  encoder_failed: 'Try other settings, for example a lower resolution. If it fails again, report it with the job ID.',
  encoder_killed: 'Run the job again. If it fails again, try a lower resolution: the machine may be out of memory.',
  output_incomplete: 'Run the job again. If it fails again, the source is probably damaged.',
  output_too_large: 'Lower the bitrate, set a longer segment_length, or use a shorter source.',
  output_forbidden: 'Check that the output credentials can write to this bucket and path.',
  output_refused: 'Choose other, shorter output names. The message says what the store rejected.',
  output_unreachable: 'Check the region and endpoint of the output store, then run the job again.',
  disk_full: 'Run the job again. If it fails again, request fewer renditions per job.',
  no_progress: 'Run the job again. If it stalls again, upload the file instead of giving its address.',
  deadline_exceeded: 'Use a shorter source, fewer renditions, or the faster quality "good".',
  too_long_for_one_attempt:
    'Let the job be divided (longest chunk empty), or use a shorter source, fewer renditions, or the quality "good".',
  attempts_exhausted: 'Run the job again. If it fails again, report it with the job ID.',
  source_too_costly:
    'Convert the source and the caption files with another program first. The message names the step that was too much.',
  build_unavailable: 'Run the job again. The transcoders were updated while its parts were made.',
  protocol_mismatch: 'Run the job again in a few minutes: the service is being updated.',
  task_refused: 'Report this with the job ID: it is a fault of the service.',
  internal: 'Try again. If it fails again, report it with the job ID: it is a fault of the service.',
}

/** The two members that every shown error has beside its code. */
export function errorHelp(code: RequestErrorCode | JobErrorCode): { advice: string; docs: string } {
  return { advice: errorAdvice[code], docs: `${PAGE}#${code}` }
}
