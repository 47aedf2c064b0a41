// In charge of: the audio of the source that a profile asks for: one stream, or the channels that source_channels names.
// Not in charge of: the mix of these channels (downmix.ts), putting them together (argv/audioSources.ts).
import type { Warning } from '#contract/errors.ts'
import type { AudioProfile, SourceChannel } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { AudioStream, MediaInfo } from '../model/mediaInfo.ts'
import { describeAudioCount, missingAudio, whyMissing } from './missingAudio.ts'

const LAYOUTS: Readonly<Record<number, string>> = { 1: 'mono', 2: 'stereo', 6: '5.1(side)' }

/** Numbers of the streams that a profile reads. */
export function requestedStreams({
  sourceStream,
  sourceChannels,
}: Pick<AudioProfile, 'sourceStream' | 'sourceChannels'>): number[] {
  const named = (sourceChannels ?? []).map(({ stream }) => stream)
  return [...new Set(sourceStream === null ? [] : [sourceStream, ...named])]
}

/** null = the source lacks it (missingAudio). */
export function requestedAudio(profile: AudioProfile, audio: readonly AudioStream[]): AudioStream | null {
  const own = audio.find(({ number }) => number === profile.sourceStream) ?? null
  const named = profile.sourceChannels ?? null
  if (own === null || named === null) return own
  if (named.some((channel) => !hasChannel(audio, channel))) return null
  const used = audio.filter(({ number }) => named.some(({ stream }) => stream === number))
  const starts = used.flatMap(({ startSeconds }) => startSeconds ?? [])
  const start = starts.length < used.length ? null : Math.min(...starts)
  const ends = used.map(({ startSeconds, durationSeconds }) =>
    durationSeconds === null ? null : (startSeconds ?? 0) + durationSeconds,
  )
  const last = Math.max(...ends.map((end) => end ?? -1))
  return {
    ...own,
    channels: named.length,
    channelLayout: LAYOUTS[named.length] ?? null,
    downmixLevels: null,
    chosen: { channels: named, longest: used[ends.findIndex((end) => (end ?? -1) === last)]!.number },
    startSeconds: start,
    durationSeconds: ends.includes(null) ? null : last - (start ?? 0),
  }
}

function hasChannel(audio: readonly AudioStream[], { stream, channel }: SourceChannel): boolean {
  return audio.some(({ number, channels }) => number === stream && channel <= channels)
}

const isMonoTrack = ({ channels, codec }: AudioStream): boolean => channels === 1 && codec.startsWith('pcm_')

/** Broadcast files have each side of a stereo programme in a track of its own. */
export function warnHalfOfPair(profile: AudioProfile, stream: AudioStream, audio: readonly AudioStream[]): Warning[] {
  const left = stream.number - ((stream.number + 1) % 2)
  const pair = audio.filter((each) => isMonoTrack(each) && (each.number === left || each.number === left + 1))
  if (stream.chosen !== undefined || !isMonoTrack(stream) || pair.length < 2) return []
  return [
    {
      code: 'audio_layout_unknown',
      field: `audioProfiles[${profile.index}].source_channels`,
      message: `Audio streams ${left} and ${left + 1} of the source are both mono, and may be left and right: stream ${stream.number} alone is on both sides. source_channels "${left}:1,${left + 1}:1" makes stereo of them.`,
    },
  ]
}

interface MissingAudio {
  field: string
  /** Part of a sentence. */
  why: string
  error: (advice: string) => TaskError
}

/** What is missing for a profile whose audio the source lacks (requestedAudio). */
export function missingProfileAudio(profile: AudioProfile, media: MediaInfo): MissingAudio {
  const { audio } = media
  const own = `audioProfiles[${profile.index}]`
  const lacking = (profile.sourceChannels ?? []).find((channel) => !hasChannel(audio, channel))
  const field = `${own}.${lacking === undefined ? 'source_stream' : 'source_channels'}`
  const wanted = lacking?.stream ?? profile.sourceStream!
  if (lacking === undefined || media.other.some(({ audioNumber }) => audioNumber === wanted))
    return {
      field,
      why: whyMissing(media, wanted),
      error: (advice) => missingAudio(media, wanted, field, advice),
    }
  const { stream, channel } = lacking
  const counts = audio.map(({ number, channels }) => `${number} with ${channels}`)
  const list = counts.length === 0 ? '' : ` (by number of channels: ${counts.join(', ')})`
  const why = `channel ${channel} of audio stream ${stream} does not exist: the source has ${describeAudioCount(audio.length)}${list}`
  const details = {
    source_stream: stream,
    channel,
    audio_streams: audio.length,
    channels: audio.map(({ channels }) => channels),
  }
  return {
    field,
    why,
    error: (advice) => new TaskError('audio_stream_missing', `${why}; ${advice}`, { field, details }),
  }
}
