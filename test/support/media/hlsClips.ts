// In charge of: HLS presentations for tests, cut by ffmpeg's own muxer: transport streams, fragmented MP4, encrypted,
// with separate audio renditions.
// Not in charge of: serving them.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ffmpeg } from './media.ts'

/** Cuts a file at its key frames into segments of about two seconds. `streams` = the streams to use, as in `-map`. */
export async function segmentHls(
  source: string,
  directory: string,
  name: string,
  { streams = '0', flags = [] }: { streams?: string; flags?: readonly string[] } = {},
): Promise<void> {
  await ffmpeg([
    // The timestamps of the source are kept, since renditions of one presentation share them; starting at 0, ffmpeg
    // would shift each by what it has before 0.
    ...['-i', source, '-map', streams, '-c', 'copy', '-copyts', '-output_ts_offset', '10'],
    ...['-f', 'hls', '-hls_time', '2', '-hls_list_size', '0'],
    ...['-hls_playlist_type', 'vod', ...flags, join(directory, `${name}.m3u8`)],
  ])
}

/** ffmpeg's flags for fragmented MP4 under that name. */
export const fmp4Flags = (name: string): string[] => [
  ...['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', `${name}_init.mp4`],
]

/** ffmpeg's flags for AES-128 with a key file next to the playlist. */
export async function encryptionFlags(directory: string, keyUri: string, iv?: string): Promise<string[]> {
  await writeFile(join(directory, 'secret.key'), Buffer.from('00112233445566778899aabbccddeeff', 'hex'))
  const info = join(directory, 'key.info')
  await writeFile(info, [keyUri, join(directory, 'secret.key'), ...(iv === undefined ? [] : [iv])].join('\n'))
  return ['-hls_key_info_file', info]
}

/** All files of a directory, as a site serves them below `prefix`. */
export async function serveFiles(directory: string, files: Map<string, Buffer>, prefix: string): Promise<void> {
  for (const name of await readdir(directory)) files.set(`${prefix}/${name}`, await readFile(join(directory, name)))
}
