// In charge of: classifying the outputs of a job: main results or supporting files, and the name of each kind. Pure.
import type { PublicOutput } from '#contract/api/status.ts'

export const nameOf = (path: string): string => path.split('/').at(-1) ?? path

export type Open = PublicOutput & { url: string }

/** Outputs with an address to open: all in the service's own store, and those in stores that offer such addresses. */
export const isOpen = (output: PublicOutput): output is Open => output.url !== null

/** In the service's own store, where files that a playlist references are readable too, and CORS allows any origin. */
export const isPlayable = (output: PublicOutput): output is Open =>
  isOpen(output) && output.location.startsWith('vendor-store://')

const FILES: Readonly<Record<string, string>> = {
  mp4: 'MP4',
  m4v: 'MP4',
  m4a: 'M4A',
  mov: 'MOV',
  ts: 'MPEG-TS',
  m2ts: 'MPEG-TS',
  mp2: 'MP2',
  mp3: 'MP3',
  opus: 'Opus',
  flac: 'FLAC',
  wav: 'WAV',
  eac3: 'E-AC-3',
  ac3: 'AC-3',
  aac: 'AAC',
  mkv: 'Matroska',
  webm: 'WebM',
  mpg: 'MPEG-PS',
  vob: 'VOB',
  tar: 'TAR',
  json: 'JSON',
  vtt: 'WebVTT',
  scc: 'SCC',
  srt: 'SRT',
  ttml: 'TTML',
  jpg: 'JPEG',
  jpeg: 'JPEG',
  webp: 'WebP',
  avif: 'AVIF',
  gif: 'GIF',
  png: 'PNG',
  dat: 'DAT',
}

/** "HLS", "DASH", "MP4", "Captions". */
export function kindOf({ path, role }: PublicOutput): string {
  const name = nameOf(path).toLowerCase()
  if (name === 'master.m3u8') return 'HLS'
  if (name === 'manifest.mpd') return 'DASH'
  if (name.endsWith('.mpd')) return 'DASH (byte ranges)'
  if (name.endsWith('.ism') || name.endsWith('.ismc') || name === 'manifest') return 'Smooth Streaming'
  if (name.endsWith('.m3u8')) return 'HLS playlist'
  const roles: Readonly<Record<string, string>> = {
    captions: 'Captions',
    poster: 'Poster',
    storyboard: 'Storyboard',
    still: 'Still',
    preview: 'Animated preview',
    waveform: 'Waveform',
    report: 'Report',
    tar: 'Archive',
  }
  return roles[role] ?? FILES[name.split('.').at(-1) ?? ''] ?? 'File'
}

/** A master playlist or a manifest represents everything that it refers to. */
function isPresentation({ path, role }: PublicOutput): boolean {
  const name = nameOf(path).toLowerCase()
  return name === 'master.m3u8' || (role === 'manifest' && !name.endsWith('.m3u8'))
}

export interface SortedOutputs {
  /** To play or to download: presentations, then whole media files. */
  main: PublicOutput[]
  /** Images, captions, playlists, reports. */
  others: PublicOutput[]
}

export function sortOutputs(outputs: readonly PublicOutput[]): SortedOutputs {
  const files = outputs.filter(({ role, segments }) => role === 'media' && segments === undefined)
  const presentations = outputs.filter(isPresentation)
  // Without any of those, playlists of single renditions are listed.
  const main = [...presentations, ...files.filter((file) => presentations.length === 0 || isTop(file))]
  const rest = outputs.filter(({ role }) => role === 'playlist' || role === 'media')
  // A job may make nothing but images or a waveform.
  const extracts = outputs.filter(({ role }) => role === 'still' || role === 'preview' || role === 'waveform')
  const chosen = main.length > 0 ? main : rest.length > 0 ? rest : extracts
  return { main: chosen, others: outputs.filter((output) => !chosen.includes(output)) }
}

const isTop = ({ path }: PublicOutput): boolean => !path.includes('/')
