// In charge of: which audio bitrates are legal for a codec and a number of channels.
// Not in charge of: whether the source has that audio.
import type { AudioCodec } from '../jobSpec.ts'

/** Specification 2.2, audio_bitrate: the ten values, kbps. */
export const AUDIO_BITRATES = [32, 40, 64, 96, 128, 192, 256, 384, 448, 768] as const

/**
 * What the ten values leave for each codec and effective channel count.
 * aac: a stereo AAC frame holds at most 576 kb/s at 48 kHz (ISO/IEC 14496-3: 6144 bits a channel a frame); six channels do not fit in 32 or 40.
 * ac3: 640 is the highest rate (ETSI TS 102 366 table 4.13); six channels do not fit in 32 or 40.
 * mp2: stereo from 64 to 384 (ISO/IEC 11172-3, Layer II), never six channels.
 */
const LEGAL: Record<AudioCodec, Record<2 | 6, readonly number[]>> = {
  aac: { 2: [32, 40, 64, 96, 128, 192, 256, 384, 448], 6: [64, 96, 128, 192, 256, 384, 448, 768] },
  ac3: { 2: [32, 40, 64, 96, 128, 192, 256, 384, 448], 6: [64, 96, 128, 192, 256, 384, 448] },
  mp2: { 2: [64, 96, 128, 192, 256, 384], 6: [] },
}

/** 5.1 in AC-3 is audible as compressed below this. */
export const AC3_SURROUND_ADVISED_KBPS = 224

/** Kbps, ascending; empty = the codec cannot carry that many channels. `channels` are the effective ones, after a downmix. */
export function allowedAudioBitrates(codec: AudioCodec, channels: 2 | 6): readonly number[] {
  return LEGAL[codec][channels]
}

/** 2.2 primary_audio_downmix_to_stereo: stereo for that profile, even when it says 6 channels. */
export function effectiveChannels(channels: string, downmix: boolean | undefined): 2 | 6 {
  return channels === '6' && downmix !== true ? 6 : 2
}

/** 2.2 audio_profiles → positions in audioProfiles, ascending and once each. Absent or empty = all of them; "none" = none. */
export function selectedAudio(selection: string | undefined, count: number): number[] {
  if (selection === undefined || selection === '') return Array.from({ length: count }, (_, index) => index)
  if (selection === 'none') return []
  return [...new Set(selection.split(',').map(Number))].toSorted((a, b) => a - b)
}
