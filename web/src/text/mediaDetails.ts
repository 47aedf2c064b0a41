// In charge of: formatting measured values for engineers: bitrates, frame sizes, codecs, audio. Pure.
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import type { AudioFacts, MediaFacts, VideoFacts } from '#contract/task/mediaFacts.ts'
import { channelsName, codecName, dimensions, framesPerSecond, languageName } from './mediaTerms.ts'

/** No line break between a number and its unit. */
const FIXED = '\u{a0}'

/** "96 kbit/s", "2.45 Mbit/s". */
export function bitrate(kbps: number): string {
  if (Math.round(kbps) < 1000) return `${Math.round(kbps)}${FIXED}kbit/s`
  const megabits = kbps / 1000
  return `${Number(megabits.toFixed(megabits < 10 ? 2 : 1))}${FIXED}Mbit/s`
}

/** By its shorter side, as renditions are named: "720p", "1080i". */
export const heightName = ({ width, height, scan }: { width: number; height: number; scan?: string }): string =>
  `${Math.min(width, height)}${scan === 'interlaced' ? 'i' : 'p'}`

const ranges = { sdr: null, hdr10: 'HDR10', hlg: 'HLG' } as const

/** "H.264 · 25 fps · HDR10", without the size, which is shown separately. */
export function videoDetails(video: VideoFacts): string {
  const parts = [
    codecName(video.codec),
    framesPerSecond(video.frame_rate),
    video.scan === 'interlaced' ? 'interlaced' : null,
    ranges[video.dynamic_range],
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

const kilohertz = (rate: number): string => `${Number((rate / 1000).toFixed(2))}${FIXED}kHz`

/** "AAC stereo, 48 kHz, 128 kbit/s, English". */
export function audioDetails({ codec, channels, sample_rate, bitrate_kbps, language }: AudioFacts): string {
  const named = language === null || language === 'und' ? [] : [languageName(language)]
  return [
    `${codecName(codec)} ${channelsName(channels)}`,
    kilohertz(sample_rate),
    bitrate(bitrate_kbps),
    ...named,
  ].join(', ')
}

/** "CC1, English". */
export const captionDetails = ({ captions }: MediaFacts): string =>
  captions
    .map(({ kind, name, language }) => {
      const called = language === null || language === 'und' ? name : `${name} ${languageName(language)}`
      return kind === 'webvtt' ? `${called} (WebVTT)` : called
    })
    .join(', ')

/** As displayed: a video that is stored rotated is turned upright. */
export function uprightSize({
  width,
  height,
  rotation,
}: Pick<NonNullable<SourceReport['video']>, 'width' | 'height' | 'rotation'>): { width: number; height: number } {
  return Math.abs(rotation) % 180 === 90 ? { width: height, height: width } : { width, height }
}

/** "1920 × 1080 · H.264", "25 fps · progressive". A joined source has no codec: its frames are in memory. */
export function sourceVideo(video: NonNullable<SourceReport['video']>, isJoined = false): string[] {
  const { width, height } = uprightSize(video)
  const rate = video.frame_rate === null ? [] : [framesPerSecond(video.frame_rate)]
  return [
    [dimensions(width, height), ...(isJoined ? [] : [codecName(video.codec)])].join(' · '),
    [...rate, video.variable_frame_rate ? 'variable' : video.scan, ...(video.hdr ? ['HDR'] : [])].join(' · '),
    ...(video.rotation % 360 === 0 ? [] : [`stored rotated by ${Math.abs(video.rotation)}°`]),
  ]
}

export function sourceAudio(
  { codec, channels, sample_rate, language }: SourceReport['audio'][number],
  isJoined = false,
): string {
  const named = language === null || language === 'und' ? [] : [languageName(language)]
  const what = isJoined ? channelsName(channels) : `${codecName(codec)} ${channelsName(channels)}`
  return [what, ...named, kilohertz(sample_rate)].join(' · ')
}

const CONTAINERS: Readonly<Record<string, string>> = {
  mov: 'MP4 / QuickTime',
  mp4: 'MP4 / QuickTime',
  matroska: 'Matroska / WebM',
  webm: 'Matroska / WebM',
  mpegts: 'MPEG-TS',
  mpeg: 'MPEG-PS',
  mxf: 'MXF',
  avi: 'AVI',
  hls: 'HLS',
  joined: 'Joined inputs',
  wav: 'WAV',
  mp3: 'MP3',
}

/** From ffprobe's list of names; the first is enough. */
export const containerName = (formats: readonly string[]): string =>
  CONTAINERS[formats[0] ?? ''] ?? formats[0]?.toUpperCase() ?? 'unknown'
