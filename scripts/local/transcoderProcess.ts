// In charge of: running the transcoder as a child of the local service: the secret comes by IPC, the end with the parent.
// Not in charge of: anything else; a container runs transcoder/main.ts itself.

/** ffmpeg is gone within 2 s of a halt; what the door would still be told is lost with it. */
const ORPHAN_EXIT_MS = 8_000

export interface TranscoderStart {
  secret: string
}

process.on('disconnect', () => {
  setTimeout(() => process.exit(1), ORPHAN_EXIT_MS).unref()
  // Both: the second one says that there is nobody to finish anything for.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(process.pid, signal)
})
// Whoever read our lines may be gone.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.once('message', (message) => {
  process.env['TRANSCODER_SECRET'] = (message as TranscoderStart).secret
  // A transcoder that cannot start must be able to end.
  process.channel?.unref()
  void import('../../transcoder/main.ts')
})
