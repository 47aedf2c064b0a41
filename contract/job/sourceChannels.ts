// In charge of: the notation of source_channels, and which audio profiles produce audio.
// Not in charge of: rules with other fields (rules/audioProfiles.ts), whether the source has these channels
// (transcoder/plan/audio/sourceChannels.ts).
import { SOURCE_CHANNEL, SOURCE_CHANNEL_STREAM } from '../limits.ts'

export const SOURCE_CHANNELS = /^(\d{1,2}:)?\d{1,2}(,(\d{1,2}:)?\d{1,2}){0,5}$/
/** Mono for both sides, stereo, 5.1. */
const COUNTS = [1, 2, 6]

/** `stream` is null where the profile's source_stream applies. Both count from 1. */
interface NamedChannel {
  stream: number | null
  channel: number
}

/** `text` matches SOURCE_CHANNELS. */
export function parseSourceChannels(text: string): NamedChannel[] {
  return text.split(',').map((entry) => {
    const [channel, stream] = entry.split(':').map(Number).toReversed()
    return { stream: stream ?? null, channel: channel! }
  })
}

export function areSourceChannels(text: string): boolean {
  const inside = ({ minimum, maximum }: { minimum: number; maximum: number }, value: number) =>
    value >= minimum && value <= maximum
  const named = parseSourceChannels(text)
  return (
    COUNTS.includes(named.length) &&
    named.every(
      ({ stream, channel }) =>
        inside(SOURCE_CHANNEL, channel) && (stream === null || inside(SOURCE_CHANNEL_STREAM, stream)),
    )
  )
}

/** The stream that gives a profile its language; undefined = the profile produces no audio (2.2 source_stream). */
export function primaryStream({
  source_stream: stream,
  source_channels: channels,
}: {
  source_stream?: string | undefined
  source_channels?: string | undefined
}): number | undefined {
  if (stream !== undefined) return Number(stream)
  return channels === undefined ? undefined : (parseSourceChannels(channels)[0]?.stream ?? undefined)
}
