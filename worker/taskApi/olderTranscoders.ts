// In charge of: attempts that a transcoder of protocol 3 or older still runs when this Worker is deployed. It reads other
// member names in answers; they are added here, so that the attempt can finish or be cancelled.
// Not in charge of: starting attempts on older transcoders, which refuse them (TASK_PROTOCOL).
// To be removed once no such attempt can be running: MAX_ATTEMPT_MS after the deployment.
import type { HlsDescription, ProgressReply } from '#contract/task/protocol.ts'

export function withOlderReply(reply: ProgressReply): object {
  return { ...reply, verdict: reply.instruction }
}

export function withOlderDescription(description: HlsDescription): object {
  const tracks = description.tracks.map((track) => ({ ...track, rounds: track.integer_durations }))
  return { ...description, tracks, pin: description.playlist_digest }
}
