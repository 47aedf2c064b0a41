// In charge of: the beginning of a filter graph: a stream, or channels of several streams that are put together.
// Not in charge of: the filters after it (filters.ts), which channels these are (audio/sourceChannels.ts).
import { mixedStreams } from '../model/channelMix.ts'
import type { ChannelMix } from '#contract/task/plan/audioPlan.ts'
import { alignFilter } from './filters.ts'

interface Source {
  stream: number
  mix: ChannelMix
}

/**
 * Whether the audio is made of several streams. They are read from the source even if other audio is decoded before
 * (steadyAudio.ts).
 */
export function isJoined({ stream, mix }: Source): boolean {
  return mixedStreams({ sourceStream: stream, mix }).length > 1
}

/**
 * The longest stream comes first and is not padded: the others are silent up to its end. (amix of ffmpeg 5 drops the end
 * of its first input, and join drops the end of every other input.) `label`: the result.
 */
export function joinChains(
  { from }: ChannelMix,
  label: string,
  { pad, sampleRate }: { pad: (stream: number) => string; sampleRate: number },
): string[] {
  const { channels, longest } = from!
  const others = [...new Set(channels.map(({ stream }) => stream))].filter((stream) => stream !== longest)
  const streams = [longest, ...others]
  const names = channels.length === 2 ? ['FL', 'FR'] : ['FL', 'FR', 'FC', 'LFE', 'SL', 'SR']
  const map = channels.map(({ stream, channel }, at) => `${streams.indexOf(stream)}.${channel - 1}-${names[at]}`)
  const layout = channels.length === 2 ? 'stereo' : '5.1(side)'
  const aligned = [alignFilter(sampleRate), 'aformat=sample_fmts=fltp']
  return [
    ...streams.map(
      (stream, at) => `[${pad(stream)}]${[...aligned, ...(at === 0 ? [] : ['apad'])].join(',')}[${label}_${at}]`,
    ),
    `${streams.map((_stream, at) => `[${label}_${at}]`).join('')}join=inputs=${streams.length}:channel_layout=${layout}:map=${map.join('|')}[${label}]`,
  ]
}
