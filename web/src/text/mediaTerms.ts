// In charge of: media properties in an engineer's terms: "H.264", "1920 × 1080", "25 fps", "5.1". Pure.
// Not in charge of: other numbers (format.ts).

const CODECS: Readonly<Record<string, string>> = {
  h264: 'H.264',
  hevc: 'HEVC',
  mpeg2video: 'MPEG-2',
  mpeg4: 'MPEG-4',
  vp8: 'VP8',
  vp9: 'VP9',
  av1: 'AV1',
  prores: 'ProRes',
  dnxhd: 'DNxHD',
  mjpeg: 'Motion JPEG',
  aac: 'AAC',
  ac3: 'Dolby Digital',
  eac3: 'Dolby Digital Plus',
  mp2: 'MP2',
  mp3: 'MP3',
  opus: 'Opus',
  flac: 'FLAC',
  vorbis: 'Vorbis',
}

/** By ffprobe's codec name. */
export const codecName = (codec: string): string =>
  CODECS[codec] ?? (codec.startsWith('pcm_') ? 'PCM' : codec.toUpperCase())

/** Audio channels: "mono", "stereo", "5.1". */
export function channelsName(channels: number): string {
  const names: Readonly<Record<number, string>> = { 1: 'mono', 2: 'stereo', 6: '5.1', 8: '7.1' }
  return names[channels] ?? `${channels} channels`
}

export const dimensions = (width: number, height: number): string => `${width} × ${height}`

/** "30000/1001" → "29.97 fps". */
export function framesPerSecond(fraction: string): string {
  const [over = NaN, under = 1] = fraction.split('/').map(Number)
  return `${Number((over / under).toFixed(2))} fps`
}

/** "eng" or "en" → "English"; an unknown code is returned unchanged. */
export function languageName(code: string): string {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code
  } catch {
    return code
  }
}

/** A media duration as players show it: "0:06", "12:34", "1:02:03". */
export function runningTime(seconds: number): string {
  const whole = Math.round(seconds)
  const two = (figure: number) => String(figure).padStart(2, '0')
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor((whole % 3600) / 60)
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}
