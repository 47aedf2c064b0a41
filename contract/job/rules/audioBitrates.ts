// In charge of: the allowed audio bitrates of a codec and channel count.
// Not in charge of: whether the source has that audio.
import { audioRules, type AudioCodec } from '../../codecs.ts'

/** Specification 2.2, audio_bitrate: its ten values, and 320 for mp3; kbps. */
export const AUDIO_BITRATES = [32, 40, 64, 96, 128, 192, 256, 320, 384, 448, 768] as const

/**
 * Kbps, ascending; empty = the codec cannot carry that many channels; null = it has no bitrate. `channels` is the
 * effective count, after a downmix.
 */
export function allowedAudioBitrates(codec: AudioCodec, channels: 2 | 6): readonly number[] | null {
  return audioRules(codec).bitrates?.[channels] ?? null
}

/** 2.2 primary_audio_downmix_to_stereo: the profile is stereo, even if it says 6 channels. */
export function effectiveChannels(channels: string, downmix: boolean | undefined): 2 | 6 {
  return channels === '6' && downmix !== true ? 6 : 2
}

/**
 * 2.2 audio_profiles → positions in audioProfiles, ascending, without duplicates. Absent or empty = all; "none" = none.
 */
export function selectedAudio(selection: string | undefined, count: number): number[] {
  if (selection === undefined || selection === '') return Array.from({ length: count }, (_, index) => index)
  if (selection === 'none') return []
  return [...new Set(selection.split(',').map(Number))].toSorted((a, b) => a - b)
}
