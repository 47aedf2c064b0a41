// In charge of: the gain of each source channel in each output channel (ITU-R BS.775).
// Not in charge of: writing it as a filter (filters.ts), reading the source's own levels (transcoder/formats/ac3.ts).
import type { Warning } from '#contract/errors.ts'
import type { AudioProfile } from '#contract/job/jobSpec.ts'
import type { AudioStream } from '../model/mediaInfo.ts'
import type { Decision } from '../planContext.ts'
import type { ChannelMix } from '#contract/task/plan/audioPlan.ts'

/** −3 dB. */
const HALF_POWER = Math.SQRT1_2
/** Channels of the layouts that ffmpeg has names for. No mix uses LFE2 and the bottom channels of 22.2. */
const CHANNEL_LAYOUTS: Readonly<Record<string, string>> = {
  mono: 'FC',
  stereo: 'FL+FR',
  downmix: 'DL+DR',
  '2.1': 'FL+FR+LFE',
  '3.0': 'FL+FR+FC',
  '3.0(back)': 'FL+FR+BC',
  '3.1': 'FL+FR+FC+LFE',
  '3.1.2': 'FL+FR+FC+LFE+TFL+TFR',
  '4.0': 'FL+FR+FC+BC',
  '4.1': 'FL+FR+FC+LFE+BC',
  quad: 'FL+FR+BL+BR',
  'quad(side)': 'FL+FR+SL+SR',
  '5.0': 'FL+FR+FC+BL+BR',
  '5.0(side)': 'FL+FR+FC+SL+SR',
  '5.1': 'FL+FR+FC+LFE+BL+BR',
  '5.1(side)': 'FL+FR+FC+LFE+SL+SR',
  '5.1.2': 'FL+FR+FC+LFE+BL+BR+TFL+TFR',
  '5.1.4': 'FL+FR+FC+LFE+BL+BR+TFL+TFR+TBL+TBR',
  '6.0': 'FL+FR+FC+BC+SL+SR',
  '6.0(front)': 'FL+FR+FLC+FRC+SL+SR',
  hexagonal: 'FL+FR+FC+BL+BR+BC',
  '6.1': 'FL+FR+FC+LFE+BC+SL+SR',
  '6.1(back)': 'FL+FR+FC+LFE+BL+BR+BC',
  '6.1(front)': 'FL+FR+LFE+FLC+FRC+SL+SR',
  '7.0': 'FL+FR+FC+BL+BR+SL+SR',
  '7.0(front)': 'FL+FR+FC+FLC+FRC+SL+SR',
  '7.1': 'FL+FR+FC+LFE+BL+BR+SL+SR',
  '7.1(wide)': 'FL+FR+FC+LFE+BL+BR+FLC+FRC',
  '7.1(wide-side)': 'FL+FR+FC+LFE+FLC+FRC+SL+SR',
  '7.1(top)': 'FL+FR+FC+LFE+BL+BR+TFL+TFR',
  '7.1.2': 'FL+FR+FC+LFE+BL+BR+SL+SR+TFL+TFR',
  '7.1.4': 'FL+FR+FC+LFE+BL+BR+SL+SR+TFL+TFR+TBL+TBR',
  octagonal: 'FL+FR+FC+BL+BR+BC+SL+SR',
  cube: 'FL+FR+BL+BR+TFL+TFR+TBL+TBR',
  '7.2.3': 'FL+FR+FC+LFE+BL+BR+SL+SR+TFL+TFR+TBC',
  '9.1.4': 'FL+FR+FC+LFE+BL+BR+FLC+FRC+SL+SR+TFL+TFR+TBL+TBR',
  hexadecagonal: 'FL+FR+FC+BL+BR+BC+SL+SR+TFL+TFC+TFR+TBL+TBC+TBR+WL+WR',
  '22.2': 'FL+FR+FC+LFE+BL+BR+FLC+FRC+BC+SL+SR+TC+TFL+TFC+TFR+TBL+TBC+TBR+TSL+TSR',
}
/** The channels of 5.1, in ffmpeg's order. */
const SURROUND = ['FL', 'FR', 'FC', 'LFE', 'SL', 'SR'] as const
/**
 * Channels that a broadcast may switch to in the middle of a stream. They are part of every mix, whatever the file's
 * beginning states.
 */
const KNOWN_CHANNELS = ['FL', 'FR', 'FC', 'LFE', 'BL', 'BR', 'BC', 'SL', 'SR']

const names: Readonly<Record<(typeof SURROUND)[number], string>> = {
  FL: 'left',
  FR: 'right',
  FC: 'centre',
  LFE: 'LFE',
  SL: 'left surround',
  SR: 'right surround',
}

/**
 * null: the source does not say which channels it has. More than two may then be anything: several languages, or music
 * and effects beside the programme.
 */
function channelsOf({ channelLayout: layout, channels }: AudioStream): string[] | null {
  const listed = /^\d+ channels \(([A-Z0-9+]+)\)$/.exec(layout ?? '')?.[1]
  const unstated = channels === 1 ? 'mono' : channels === 2 ? 'stereo' : ''
  return (listed ?? CHANNEL_LAYOUTS[layout ?? unstated])?.split('+') ?? null
}

/** The stereo downmix adds channels, so its gains and its limiter matter. A 5.1 output has no such options. */
export function isDownmixed(stream: AudioStream): boolean {
  return stream.channels > 2
}

export function planChannelMix(profile: AudioProfile, stream: AudioStream): Decision<ChannelMix> {
  const { value, warnings } = mixOf(profile, stream)
  return { value: stream.chosen === undefined ? value : { from: stream.chosen, ...value }, warnings }
}

function mixOf(profile: AudioProfile, stream: AudioStream): Decision<ChannelMix> {
  const channels = channelsOf(stream)
  const warnings = withoutEffect(profile, stream, channels)
  if (channels === null)
    return { value: mixByPosition(profile, stream), warnings: [...warnings, layoutUnknown(profile, stream)] }
  const limited = stream.channels > profile.channels || stream.isMixed === true
  if (profile.channels === 6) {
    const gains = toSurround(channels)
    return {
      value: { gains: rounded(gains), limited },
      warnings: [...warnings, ...silentChannels(profile, stream, channels, gains)],
    }
  }
  return { value: { gains: rounded(toStereo(profile, channels, levelsOf(profile, stream))), limited }, warnings }
}

/** By the recommendation's levels, for sound of which only the number of channels is known. */
export function defaultMix(channels: 2 | 6): ChannelMix {
  const profile = { downmix: null, downmixLfe: null }
  const levels = { centre: HALF_POWER, surround: HALF_POWER, lfe: HALF_POWER }
  return {
    gains: rounded(channels === 6 ? toSurround(KNOWN_CHANNELS) : toStereo(profile, KNOWN_CHANNELS, levels)),
    limited: true,
  }
}

/** The source's own levels where it states them, else the levels of the recommendation. */
function levelsOf({ downmix }: AudioProfile, { downmixLevels }: AudioStream): Levels {
  const stated = downmix === 'lt_rt' ? downmixLevels?.ltRt : downmixLevels?.loRo
  return {
    centre: stated?.centre ?? HALF_POWER,
    surround: stated?.surround ?? HALF_POWER,
    lfe: downmixLevels?.lfe ?? HALF_POWER,
  }
}

interface Levels {
  centre: number
  surround: number
  lfe: number
}

type Gains = Record<string, Record<string, number>>

/**
 * BS.775, table 2: left + −3 dB of the centre + −3 dB of the left surround. Two pairs of surrounds become one at −3 dB
 * each, a single surround goes to both sides, and a pair of height channels is mixed at −3 dB into the channels below
 * it. Mono goes to both sides at its own level.
 */
function toStereo(
  profile: Pick<AudioProfile, 'downmix' | 'downmixLfe'>,
  channels: readonly string[],
  { centre, surround, lfe }: Levels,
): Gains {
  const pair = pairGain(channels)
  const isMono = channels.join('+') === 'FC'
  const ofSide = (side: 'L' | 'R'): Record<string, number> => ({
    [`F${side}`]: 1,
    [`F${side}C`]: 1,
    [`D${side}`]: 1,
    [`W${side}`]: HALF_POWER,
    [`TF${side}`]: HALF_POWER,
    FC: isMono ? 1 : centre,
    TFC: centre * HALF_POWER,
    TC: 0.5,
    ...(profile.downmixLfe === true ? { LFE: lfe } : {}),
  })
  const backChannels = (side: 'L' | 'R'): Record<string, number> => ({
    [`S${side}`]: surround * pair,
    [`B${side}`]: surround * pair,
    [`SD${side}`]: surround * pair,
    [`TB${side}`]: surround * HALF_POWER,
    [`TS${side}`]: surround * HALF_POWER,
  })
  const single = (gain: number) => ({ BC: surround * gain, TBC: surround * gain * HALF_POWER })
  if (profile.downmix === 'lt_rt') {
    // ETSI TS 102 366, 7.8.2: both surrounds in both sides, in opposite phase. A matrix decoder plays this from the
    // rear.
    const both = { ...backChannels('L'), ...backChannels('R'), ...single(1) }
    const inverted = Object.fromEntries(Object.entries(both).map(([name, gain]) => [name, -gain]))
    return onlyChannels(channels, { FL: { ...ofSide('L'), ...inverted }, FR: { ...ofSide('R'), ...both } })
  }
  return onlyChannels(channels, {
    FL: { ...ofSide('L'), ...backChannels('L'), ...single(HALF_POWER) },
    FR: { ...ofSide('R'), ...backChannels('R'), ...single(HALF_POWER) },
  })
}

function toSurround(channels: readonly string[]): Gains {
  const pair = pairGain(channels)
  const front = (side: 'L' | 'R') => ({
    [`F${side}`]: 1,
    [`F${side}C`]: 1,
    [`D${side}`]: 1,
    [`W${side}`]: HALF_POWER,
    [`TF${side}`]: HALF_POWER,
    TC: 0.5,
  })
  const backChannels = (side: 'L' | 'R') => ({
    [`S${side}`]: pair,
    [`B${side}`]: pair,
    [`SD${side}`]: pair,
    [`TB${side}`]: HALF_POWER,
    [`TS${side}`]: HALF_POWER,
    BC: HALF_POWER,
    TBC: 0.5,
  })
  return onlyChannels(channels, {
    FL: front('L'),
    FR: front('R'),
    FC: { FC: 1, TFC: HALF_POWER },
    LFE: { LFE: 1 },
    SL: backChannels('L'),
    SR: backChannels('R'),
  })
}

/** The gain of each of two pairs of surrounds. */
function pairGain(channels: readonly string[]): number {
  return channels.includes('SL') && channels.includes('BL') ? HALF_POWER : 1
}

function onlyChannels(channels: readonly string[], gains: Gains): Gains {
  const known = new Set([...KNOWN_CHANNELS, ...channels])
  return Object.fromEntries(
    Object.entries(gains).map(([output, shares]) => [
      output,
      Object.fromEntries(Object.entries(shares).filter(([name, gain]) => known.has(name) && gain !== 0)),
    ]),
  )
}

function rounded(gains: Gains): Gains {
  return Object.fromEntries(
    Object.entries(gains).map(([output, shares]) => [
      output,
      Object.fromEntries(Object.entries(shares).map(([name, gain]) => [name, Math.round(gain * 1e6) / 1e6])),
    ]),
  )
}

/** The first channels, in the order of SMPTE ST 2036-2 (L R C LFE Ls Rs), or as stereo where there are fewer than six. */
function firstChannels({ channels: wanted }: AudioProfile, { channels }: AudioStream): readonly string[] {
  return SURROUND.slice(0, channels < wanted ? 2 : wanted)
}

function mixByPosition(profile: AudioProfile, stream: AudioStream): ChannelMix {
  const used = firstChannels(profile, stream)
  const outputs = SURROUND.slice(0, profile.channels)
  // A channel without sources needs a term: the first, at no level.
  const shares = (name: string, index: number) => (used.includes(name) ? { [`c${index}`]: 1 } : { c0: 0 })
  return { gains: Object.fromEntries(outputs.map((name, index) => [name, shares(name, index)])), limited: false }
}

function layoutUnknown(profile: AudioProfile, stream: AudioStream): Warning {
  const used = firstChannels(profile, stream).map((name) => names[name as keyof typeof names])
  return {
    code: 'audio_layout_unknown',
    field: `audioProfiles[${profile.index}].source_channels`,
    message: `Audio stream ${stream.number} of the source has ${stream.channels} channels and does not say which: its first ${used.length} are used as ${used.join(', ')}. source_channels selects others, such as "3,4".`,
  }
}

/** Six channels from a stereo source: allowed, but four of them are silent. A missing LFE is no loss. */
function silentChannels(
  profile: AudioProfile,
  stream: AudioStream,
  channels: readonly string[],
  gains: Gains,
): Warning[] {
  const silent = SURROUND.filter(
    (output) => output !== 'LFE' && !channels.some((name) => gains[output]?.[name] !== undefined),
  )
  if (silent.length === 0) return []
  const has =
    stream.channels === 1 ? 'is mono' : stream.channels === 2 ? 'is stereo' : `has ${stream.channels} channels`
  const all = channels.includes('LFE') ? silent : SURROUND.filter((name) => name === 'LFE' || silent.includes(name))
  return [
    {
      code: 'audio_channels_silent',
      field: `audioProfiles[${profile.index}].audio_channels`,
      message: `Audio stream ${stream.number} of the source ${has}: in the 5.1 of audio profile ${profile.index} these channels are silent: ${all.map((name) => names[name]).join(', ')}.`,
    },
  ]
}

function withoutEffect(profile: AudioProfile, stream: AudioStream, channels: readonly string[] | null): Warning[] {
  // Options that have no effect on 6 channels are reported when the job is created.
  if (profile.channels === 6) return []
  const noEffect = (name: string, why: string): Warning => {
    const field = `audioProfiles[${profile.index}].${name}`
    return { code: 'no_effect', field, message: `${field} has no effect: ${why}.` }
  }
  const which = stream.chosen === undefined ? `audio stream ${stream.number} of the source` : 'source_channels'
  return [
    ...(profile.downmix !== null && !isDownmixed(stream)
      ? [noEffect('downmix', `${which} has no more than 2 channels`)]
      : []),
    ...(profile.downmix !== null && channels === null
      ? [noEffect('downmix', `the layout of ${which} is unknown`)]
      : []),
    ...(profile.downmixLfe === true && channels?.includes('LFE') !== true
      ? [noEffect('downmix_lfe', `${which} has no LFE channel`)]
      : []),
  ]
}
