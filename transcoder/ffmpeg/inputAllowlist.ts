// In charge of: what ffmpeg and ffprobe may open, and how many resources an input may use (flags before an input).
// Not in charge of: limits of the process (sandbox.ts), what the loopback server serves.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */

/**
 * Containers only. No playlists, no concat and no text: those refer to other files. No still images; animated ones have
 * demuxers of their own.
 */
const DEMUXERS =
  'mov,mpegts,matroska,webm,mxf,avi,flv,live_flv,asf,mpeg,mpegvideo,ogg,wav,aac,ac3,eac3,mp3,h264,hevc,m4v,gxf,dv,aiff,flac,w64,caf,amr,gif,apng'

/**
 * Decoders by name: those that real sources need, and no more. Hundreds of game, screen and archive codecs (magicyuv
 * among them) are left out on purpose: their parsers would read hostile bytes without any benefit.
 */
const DECODERS = [
  // Video of delivery and broadcast.
  ...['h264', 'hevc', 'mpeg1video', 'mpeg2video', 'mpegvideo', 'mpeg4', 'vp8', 'vp9', 'libvpx', 'libvpx-vp9', 'theora'],
  ...['av1', 'libdav1d', 'libaom-av1', 'vc1', 'wmv1', 'wmv2', 'wmv3', 'msmpeg4', 'msmpeg4v2', 'h263', 'flv'],
  // Video of cameras, editing and archives.
  ...[
    'prores',
    'dnxhd',
    'dvvideo',
    'mjpeg',
    'jpeg2000',
    'ffv1',
    'huffyuv',
    'ffvhuff',
    'utvideo',
    'v210',
    'rawvideo',
    'qtrle',
    'png',
    'apng',
    'gif',
  ],
  // Audio.
  ...[
    'aac',
    'aac_latm',
    'ac3',
    'eac3',
    'mp1',
    'mp1float',
    'mp2',
    'mp2float',
    'mp3',
    'mp3float',
    'dca',
    'truehd',
    'mlp',
  ],
  ...['flac', 'alac', 'vorbis', 'libvorbis', 'opus', 'libopus', 'wmav1', 'wmav2', 'wmapro', 'wmalossless', 's302m'],
  ...['amrnb', 'amrwb', 'adpcm_ima_wav', 'adpcm_ima_qt', 'adpcm_ms', 'adpcm_swf'],
  ...[
    'pcm_s16le',
    'pcm_s16be',
    'pcm_s24le',
    'pcm_s24be',
    'pcm_s32le',
    'pcm_s32be',
    'pcm_f32le',
    'pcm_f32be',
    'pcm_f64le',
  ],
  ...['pcm_f64be', 'pcm_u8', 'pcm_s8', 'pcm_alaw', 'pcm_mulaw', 'pcm_bluray', 'pcm_dvd'],
  // ffprobe opens a decoder for every stream and gives up if one is not allowed: subtitles and cover art are left out
  // of the output later, but must not make a source unreadable.
  ...['dvbsub', 'dvdsub', 'pgssub', 'xsub', 'libzvbi_teletextdec', 'cc_dec', 'mov_text', 'subrip', 'srt', 'ass', 'ssa'],
  ...['webvtt', 'text', 'bmp'],
].join(',')

/** The same for every input, of ffmpeg and of ffprobe. */
const COMMON_FLAGS = [
  ...['-format_whitelist', DEMUXERS],
  ...['-codec_whitelist', DECODERS],
  // Limit of one allocation; a header can ask for gigabytes.
  ...['-max_alloc', '536870912'],
  // 8192 × 8192.
  ...['-max_pixels', '67108864'],
  ...['-max_streams', '100'],
]

/** Before an input on the loopback server: plain http over tcp, and nothing that the media itself refers to. */
export function httpInputFlags(): string[] {
  return [
    ...['-protocol_whitelist', 'http,tcp'],
    ...COMMON_FLAGS,
    // Microseconds without a byte.
    ...['-rw_timeout', '20000000'],
    // Without reconnecting, a dropped connection ends in exit code 0 with half of the media (docs/internals/performance.md). http
    // inputs only: ffmpeg rejects these options for a file input.
    ...['-reconnect', '1', '-reconnect_streamed', '1', '-reconnect_on_network_error', '1'],
    ...['-reconnect_on_http_error', '429,5xx', '-reconnect_delay_max', '5'],
  ]
}

/**
 * Also before an http input of which some ranges cost nothing to read (source/skippedBytes.ts): gaps up to this size are
 * read. By default some builds open a connection after most of the ranges, and each connection requests more than it wants.
 * Not larger: the way to an index at the end of a file is no gap.
 */
export const READ_THROUGH_FLAGS: readonly string[] = ['-short_seek_size', '4194304']

/** Before a local file given as a `file:` URL. */
export function fileInputFlags(): string[] {
  return ['-protocol_whitelist', 'file', ...COMMON_FLAGS]
}

/** Before a list of files that this program wrote, all of them local transport streams (`-f concat`). */
export function concatInputFlags(): string[] {
  // The allowlist also applies to the files in the list; it does not contain the list format itself.
  return [
    '-protocol_whitelist',
    'file',
    ...COMMON_FLAGS,
    ...['-format_whitelist', 'concat,mpegts'],
    ...['-f', 'concat'],
  ]
}

/** Last part of an address on the loopback server: an FLV file whose clock jumps. */
export const LIVE_NAME = 'live'

/** The flags that fit an address; throws for anything but http and file. */
export function inputFlags(url: string): string[] {
  if (url.startsWith('http://'))
    // ffmpeg follows jumps only in containers that it expects them in. This demuxer differs from `flv` in nothing else.
    return [...httpInputFlags(), ...(url.split('/').at(-1)?.startsWith(LIVE_NAME) === true ? ['-f', 'live_flv'] : [])]
  if (url.startsWith('file:')) return fileInputFlags()
  throw new TypeError('an input is an http: or file: URL')
}
