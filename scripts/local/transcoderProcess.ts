// In charge of: running the transcoder as a child of the local service: it gets the secret by IPC and ends with its
// parent.
// Not in charge of: the transcoder itself. A container runs transcoder/main.ts directly.

/** ffmpeg ends within 2 s of the signal. Reports to the task API that are not sent by then are lost. */
const ORPHAN_EXIT_MS = 8_000

export interface TranscoderStart {
  secret: string
}

process.on('disconnect', () => {
  setTimeout(() => process.exit(1), ORPHAN_EXIT_MS).unref()
  // The second signal means: do not wait for the task to finish.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(process.pid, signal)
})
// The process that reads the output may have ended.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.once('message', (message) => {
  process.env['TRANSCODER_SECRET'] = (message as TranscoderStart).secret
  // Otherwise a transcoder that cannot start would not exit.
  process.channel?.unref()
  void import('../../transcoder/main.ts')
})
