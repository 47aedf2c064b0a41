// In charge of: explaining how ffmpeg ended: a reason and a sentence for people. Reasons have the names of the
// resulting errors.
// Not in charge of: detecting success. Exit code 0 is NOT success (truncated input ends with 0): the caller compares
// durations too.

export type ExitReason =
  | 'output_incomplete'
  | 'output_too_large'
  | 'disk_full'
  | 'encoder_failed'
  | 'deadline_exceeded'
  | 'source_unreachable'
  | 'source_not_found'
  | 'source_forbidden'
  | 'source_damaged'
  | 'source_not_media'

export interface ProcessExit {
  code: number | null
  signal: string | null
  stderr: string
  /** The run was long enough to have used up its processor time; missing = not known. */
  mayHaveReachedCpuLimit?: boolean
}

export interface ExitFailure {
  code: ExitReason
  message: string
}

/** First match wins. Problems of the machine come first, because they make the media look broken. */
const STDERR_CAUSES: readonly [RegExp, ExitReason, string | ((match: RegExpExecArray) => string)][] = [
  [
    /reserved_moov_size is too small/,
    'output_incomplete',
    'The space that was kept for the header of an MP4 was too small.',
  ],
  [/No space left on device|Disk quota exceeded/i, 'disk_full', 'The transcoder ran out of disk space.'],
  [/File too large/i, 'output_too_large', 'An output exceeded its maximum size.'],
  [
    /Cannot allocate memory|Error allocating|malloc of size \d+ failed|Out of memory/i,
    'encoder_failed',
    'The source needs more memory than a task may use.',
  ],
  [
    /Connection (refused|reset|timed out)|Network is unreachable|Operation timed out|HTTP error 5\d\d|Server returned 5XX|End of file.{0,300}http/i,
    'source_unreachable',
    'The source could not be read to its end.',
  ],
  [/HTTP error 404|Server returned 404/i, 'source_not_found', 'The source does not exist.'],
  [/HTTP error 40[13]|Server returned 40[13]/i, 'source_forbidden', 'Access to the source is forbidden.'],
  [
    /moov atom not found/i,
    'source_damaged',
    'The source is an MP4 or MOV without its index ("moov"): it was cut off or its recording was never finished.',
  ],
  [
    /Decode error rate \S+ exceeds maximum/,
    'source_damaged',
    'The source is damaged: most of it could not be decoded.',
  ],
  [
    /Codec \(([^)]{0,100})\) not on whitelist|Decoder (.{1,100}) not found|no decoder found for(?: codec)? (\w*)|Unknown decoder/i,
    'source_not_media',
    ([, ...names]) => {
      const name = names.find((each) => each !== undefined && each !== '') ?? ''
      return `The source uses a codec that is not accepted${/^[\w-]{1,40}$/.test(name) ? ` (${name})` : ''}: convert it first, for example to H.264 and AAC in MP4.`
    },
  ],
  [
    /Format not on whitelist|not on whitelist|not in allowed_extensions|Protocol '[^']{0,100}' not on whitelist/i,
    'source_not_media',
    'The source is not a media file of a kind that is accepted (playlists, text and still images are not).',
  ],
  [
    /Error while opening encoder|Error initializing output stream|Could not open encoder|Nothing was written into output/i,
    'encoder_failed',
    'The encoder rejected these settings, or the source has no frame that can be decoded.',
  ],
  [
    // ffprobe, which ends at the first stream of which it cannot read the header.
    /Could not open codec for input stream (\d{1,4})/,
    'source_damaged',
    ([, stream]) =>
      `The header of stream ${stream} of the source is damaged or not complete, so its decoder cannot be opened. To transcode the rest, leave this stream out first: ffmpeg -i FILE -map 0 -map -0:${stream} -c copy OUT.mkv`,
  ],
  [
    /Invalid data found when processing input/i,
    'source_damaged',
    'The source is damaged: it could not be read as media.',
  ],
  [/matches no streams/i, 'source_damaged', 'A stream of the source disappeared between analysis and transcoding.'],
]

/** Signals that the kernel sends when a limit is exceeded. */
const SIGNAL_CAUSES: Record<string, ExitFailure> = {
  SIGXFSZ: { code: 'output_too_large', message: 'An output exceeded its maximum size.' },
  SIGXCPU: { code: 'deadline_exceeded', message: 'The task exceeded its CPU time limit.' },
}

/** null = exit code 0. Pure; `stderr` is the end of ffmpeg's output. */
export function explainExit(ending: ProcessExit): ExitFailure | null {
  if (ending.code === 0 && ending.signal === null) return null
  // prlimit and shells report a signal as 128 + its number.
  const signal = ending.signal ?? (ending.code === 153 ? 'SIGXFSZ' : null)
  const known = signal === null ? undefined : SIGNAL_CAUSES[signal]
  if (known !== undefined) return known
  if (signal !== null) return { code: 'encoder_failed', message: `The encoder crashed (${signal}) on this source.` }
  // On SIGXCPU ffmpeg exits with 255 (123 from the fourth signal on; one is sent every second) and a message that is
  // only logged at a more verbose level. Newer versions exit with 255 for other errors too (−1 and EPERM), so the
  // processor time is considered as well; and 7.0 calls the data invalid that the signal cut off.
  if ((ending.code === 255 || ending.code === 123) && ending.mayHaveReachedCpuLimit !== false)
    return SIGNAL_CAUSES['SIGXCPU']!
  for (const [pattern, code, message] of STDERR_CAUSES) {
    const match = pattern.exec(ending.stderr)
    if (match !== null) return { code, message: typeof message === 'string' ? message : message(match) }
  }
  const last = ending.stderr.trim().split('\n').at(-1)?.trim().slice(0, 300) ?? ''
  return {
    code: 'encoder_failed',
    message: `The encoder exited with code ${ending.code ?? 'unknown'}${last === '' ? '.' : `: ${last}`}`,
  }
}
