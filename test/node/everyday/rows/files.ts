// In charge of: files of older formats, animations, and sound that is sent where video is expected.
import type { Row } from '../row.ts'
import { AAC, X264, type ClipOptions } from '../workshop.ts'

/** A clip of a format; `words` are ffmpeg's. */
const format = (kind: string, name: string, options: ClipOptions, words: string, rest: Partial<Row> = {}): Row => ({
  kind,
  make: async (shop) => ({ path: await shop.clip(name, options, words.split(' ')) }),
  ...rest,
})

const NO_VIDEO = { refused: { code: 'no_video', says: /no video/ } }
const SOUND = { seconds: 3, only: 'sound' } as const

export const FILE_ROWS: readonly Row[] = [
  format('old: DivX and MP3 in AVI', 'divx.avi', { seconds: 4 }, '-c:v mpeg4 -vtag DX50 -bf 2 -q:v 3 -c:a libmp3lame'),
  format('old: Flash video', 'flash.flv', { seconds: 4, rate: 30 }, '-c:v flv -q:v 3 -c:a libmp3lame -ar 44100'),
  format('old: H.264 in FLV', 'live.flv', { seconds: 4, rate: 30 }, [...X264, ...AAC].join(' ')),
  format('old: Windows Media', 'media.wmv', { seconds: 4 }, '-c:v wmv2 -b:v 1M -c:a wmav2 -b:a 128k'),
  format('old: DV', 'tape.dv', { width: 720, height: 576, seconds: 3 }, '-target pal-dv'),
  format('old: DVD', 'title.vob', { width: 720, height: 576, seconds: 3, channels: 6 }, '-target pal-dvd -aspect 16:9'),
  format('old: Theora and Vorbis', 'theora.ogv', { seconds: 3 }, '-c:v libtheora -q:v 8 -c:a libvorbis'),
  format(
    'web: VP9 and Opus in Matroska',
    'vp9.mkv',
    { seconds: 3 },
    '-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -c:a libopus',
  ),
  format('edit: ProRes and PCM in MOV', 'prores.mov', { seconds: 2 }, '-c:v prores_ks -profile:v 0 -c:a pcm_s24le'),
  {
    kind: 'old: 3GP of a phone, H.263 and AMR',
    known: { why: 'ffmpeg 5.1 does not decode AMR of several frames in a packet', faults: /^[a-z_]+: / },
    make: async (shop) => ({ path: await shop.kept('amr-50-frames-per-sample_MOV00006.3gp') }),
  },
  {
    kind: 'animation: GIF',
    make: async (shop) => ({ path: await shop.clip('anim.gif', { seconds: 3, rate: 10, channels: 0 }, []) }),
  },
  {
    kind: 'picture that moves without sound, H.264 in MP4 in fragments',
    make: async (shop) => {
      const flags = [...X264, '-movflags', '+frag_keyframe+empty_moov']
      return { path: await shop.clip('fragments.mp4', { seconds: 3, channels: 0 }, flags) }
    },
  },
  {
    ...NO_VIDEO,
    kind: 'podcast: MP3 with a cover',
    make: async (shop) => {
      const sound = await shop.clip('talk.mp3', { ...SOUND, channels: 1 }, ['-c:a', 'libmp3lame'])
      const cover = await shop.clip('cover.png', { seconds: 0.04, only: 'video' }, ['-frames:v', '1'])
      const marks = ['-map', '0', '-map', '1', '-c', 'copy', '-disposition:v', 'attached_pic', '-id3v2_version', '3']
      return { path: await shop.convert('-i', sound, '-i', cover, ...marks, 'podcast.mp3') }
    },
  },
  format('voice memo: mono AAC in M4A', 'memo.m4a', { ...SOUND, channels: 1 }, AAC.join(' '), NO_VIDEO),
  format('voice memo: ALAC in CAF', 'memo.caf', { ...SOUND, channels: 1 }, '-c:a alac', NO_VIDEO),
  {
    kind: 'message: a text file with the name of a video',
    refused: { code: 'source_not_media', says: /./ },
    make: async (shop) => {
      const path = shop.file('notes.mp4')
      await (await import('node:fs/promises')).writeFile(path, 'not a video\n'.repeat(100))
      return { path }
    },
  },
  {
    kind: 'upload that was cut off: MP4 without its index',
    refused: { code: 'source_damaged', says: /moov/ },
    make: async (shop) => {
      const whole = await shop.clip('cut.mp4', { seconds: 3 }, [...X264, ...AAC])
      const { readFile, writeFile } = await import('node:fs/promises')
      const bytes = await readFile(whole)
      await writeFile(whole, bytes.subarray(0, Math.floor(bytes.length / 2)))
      return { path: whole }
    },
  },
]
