// In charge of: what broadcasters, recorders and contribution links leave.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFile, writeFile } from 'node:fs/promises'
import { insertPairs, timedPairs } from '../../../support/captions/captionedClip.ts'
import { readCaptions } from '../../../support/captions/decodedCaptions.ts'
import { ffprobe } from '../../../support/media/media.ts'
import { cueAtSeconds, insertCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../../support/mpegts/spliceSections.ts'
import type { Row } from '../row.ts'
import { changedMidway } from '../composed.ts'
import { watch, type Seen } from '../watch.ts'
import { AAC, watchInTurn, X264, type Source, type Workshop } from '../workshop.ts'

const MPEG2 = ['-c:v', 'mpeg2video', '-b:v', '3M', '-bf', '0', '-g', '12']
const MP2 = ['-c:a', 'mp2', '-b:a', '192k']
const SOUND = {
  ac3: { flags: ['-c:a', 'ac3', '-b:a', '384k'], extension: 'ac3' },
  mp2: { flags: MP2, extension: 'mp2' },
}
/** Whole frames of AC-3 and of MP2 at 48 kHz. */
const PART = { seconds: 2.4 }
const tsAt = (second: number): string[] => ['-muxdelay', '0', '-output_ts_offset', `${second}`]

/** Recordings put one behind the other, each with a clock of its own. */
async function joinedTs(
  shop: Workshop,
  name: string,
  pieces: readonly { at: number; seconds: number; flags?: string[] }[],
): Promise<Source> {
  const files: string[] = []
  let from = 0
  for (const [index, { at, seconds, flags = [] }] of pieces.entries()) {
    const coded = [...X264, '-bf', '0', ...MP2, ...tsAt(at), ...flags, '-f', 'mpegts']
    files.push(await shop.clip(`${name}-${index}.ts`, { seconds, from }, coded))
    from += seconds
  }
  return { path: await shop.append(`${name}.ts`, files), seen: await watchInTurn(files) }
}

/** The sound of the first two channels alone. */
function frontOf(seen: Seen): Seen {
  return { ...seen, sound: seen.sound && { ...seen.sound, channels: seen.sound.channels.slice(0, 2) } }
}

const CAPTIONS = [
  { text: 'EVERYDAY', from: 30, to: 70 },
  { text: 'SPLICE', from: 85, to: 120 },
]

async function captionFaults(path: string): Promise<string[]> {
  const read = await readCaptions(path)
  return CAPTIONS.flatMap(({ text, from, to }) => {
    const cue = read.find((each) => each.text.trim() === text)
    if (cue === undefined) return [`the caption ${text} is lost; there are ${JSON.stringify(read)}`]
    const [begin = 0, end = 0] = cue.seconds
    return Math.abs(begin - from / 25) < 0.09 && Math.abs(end - to / 25) < 0.09
      ? []
      : [`${text} is shown ${begin}–${end}`]
  })
}

async function cueCount(path: string): Promise<number> {
  const entries = ['-select_streams', 'd', '-show_entries', 'packet=pos']
  return ((await ffprobe(entries, path)) as { packets: unknown[] }).packets.length
}

export const BROADCAST_ROWS: readonly Row[] = [
  {
    kind: 'broadcast with adverts: AC-3 5.1, then 2.0, then 5.1',
    short: true,
    make: (shop) =>
      changedMidway(shop, 'adverts', [{ ...PART, channels: 6 }, PART, { ...PART, channels: 6 }], SOUND.ac3),
  },
  {
    kind: 'broadcast with adverts: MP2 mono, then stereo',
    make: (shop) => changedMidway(shop, 'mono', [{ ...PART, channels: 1 }, PART], SOUND.mp2),
  },
  {
    kind: 'broadcast with adverts: MP2 at 48 kHz, then 44.1 kHz',
    make: (shop) => changedMidway(shop, 'rates', [PART, { ...PART, soundRate: 44_100 }], SOUND.mp2),
  },
  {
    kind: 'broadcast with adverts: 4:3, then 16:9',
    make: async (shop) => {
      const size = { width: 720, height: 576, seconds: 2.4, only: 'video' } as const
      const pieces = [
        await shop.clip('narrow.m2v', size, [...MPEG2, '-aspect', '4:3']),
        await shop.clip('wide.m2v', { ...size, from: 2.4 }, [...MPEG2, '-aspect', '16:9']),
      ]
      const video = await shop.append('aspect.m2v', pieces)
      const sound = await shop.clip('aspect.mp2', { seconds: 4.8, only: 'sound' }, MP2)
      const both = ['-fflags', '+genpts', '-r', '25', '-i', video, '-i', sound, '-c', 'copy', 'aspect.ts']
      return { path: await shop.convert(...both) }
    },
  },
  {
    kind: 'broadcast with captions and cues',
    short: true,
    make: async (shop) => {
      const coded = [...X264, '-bf', '0', '-x264-params', 'slices=1', '-threads', '1']
      const bare = await shop.clip('bare.h264', { seconds: 6, only: 'video' }, coded)
      await writeFile(shop.file('said.h264'), insertPairs(await readFile(bare), timedPairs(CAPTIONS), 1))
      const sound = await shop.clip('said.mp2', { seconds: 6, only: 'sound' }, MP2)
      const both = ['-r', '25', '-i', shop.file('said.h264'), '-i', sound, '-c', 'copy', 'said.ts']
      const path = await shop.convert(...both)
      const splice = { eventId: 7, out: true, pts: 3 * 90_000, breakTicks: 90_000, autoReturn: true }
      await writeFile(path, insertCues(await readFile(path), [cueAtSeconds(0.5, spliceInsert(splice))], 600))
      return { path }
    },
    also: async ({ file }, request) => {
      if (request !== 'ts' || file === null) return []
      const cues = await cueCount(file)
      return [...(await captionFaults(file)), ...(cues === 1 ? [] : [`it has ${cues} cues instead of 1`])]
    },
  },
  {
    kind: 'broadcast: the sound moves to another PID',
    make: (shop) =>
      joinedTs(shop, 'pid', [
        { at: 10, seconds: 3, flags: ['-streamid', '1:257', '-tables_version', '1'] },
        { at: 13, seconds: 3, flags: ['-streamid', '1:300', '-tables_version', '2'] },
      ]),
  },
  {
    kind: 'broadcast: the video moves to another PID',
    make: (shop) =>
      joinedTs(shop, 'vpid', [
        { at: 10, seconds: 3, flags: ['-streamid', '0:256', '-tables_version', '1'] },
        { at: 13, seconds: 3, flags: ['-streamid', '0:290', '-tables_version', '2'] },
      ]),
  },
  {
    kind: 'recorder: two recordings joined, the clock jumps back',
    short: true,
    make: (shop) =>
      joinedTs(shop, 'back', [
        { at: 1000, seconds: 3 },
        { at: 5, seconds: 3 },
      ]),
  },
  {
    kind: 'recorder: two recordings joined, the clock jumps ahead by an hour',
    make: (shop) =>
      joinedTs(shop, 'ahead', [
        { at: 5, seconds: 3 },
        { at: 4000, seconds: 3 },
      ]),
  },
  {
    kind: 'recorder: the clock wraps at 33 bits',
    make: (shop) => joinedTs(shop, 'wrap', [{ at: 95_441, seconds: 5 }]),
  },
  {
    kind: 'contribution: MXF with eight mono tracks',
    make: async (shop) => {
      const tracks = Array.from({ length: 8 }, () => ['-map', '1:a']).flat()
      const coded = [...MPEG2, '-aspect', '16:9', '-c:a', 'pcm_s16le', '-map', '0:v', ...tracks]
      const path = await shop.clip('mono8.mxf', { width: 720, height: 576, seconds: 3, channels: 1 }, coded)
      return { path }
    },
  },
  {
    kind: 'contribution: MXF with four channels in one track, without a layout',
    warns: ['audio_layout_unknown'],
    make: async (shop) => {
      const path = await shop.clip('four.mxf', { seconds: 3, channels: 4 }, [...MPEG2, '-c:a', 'pcm_s16le'])
      return { path, seen: frontOf(await watch({ video: path }, { ownShape: true })) }
    },
  },
  {
    kind: 'contribution: AC-3 as bursts of data in PCM',
    warns: ['audio_is_data'],
    make: async (shop) => {
      const plain = await shop.clip('plain.mov', { seconds: 3, channels: 6 }, [...MPEG2, ...SOUND.ac3.flags])
      const bursts = await shop.convert('-i', plain, '-map', '0:a', '-c', 'copy', 'bursts.spdif')
      const both = ['-i', plain, '-f', 's16le', '-ar', '48000', '-ac', '2', '-i', bursts, '-map', '0:v', '-map', '1:a']
      const path = await shop.convert(...both, '-c:v', 'copy', '-c:a', 'pcm_s24le', 'aes.mov')
      return { path, seen: await watch({ video: plain }, { ownShape: true }) }
    },
  },
  {
    kind: 'contribution: IMX with 608 lines, the upper 32 of them no picture',
    make: async (shop) => {
      const size = { width: 720, height: 576, seconds: 2 }
      const plain = await shop.clip('plain576.mov', size, [...MPEG2, '-aspect', '4:3', '-c:a', 'pcm_s16le'])
      const imx =
        '-pix_fmt yuv422p -intra_vlc 1 -non_linear_quant 1 -g 0 -qmin 1 -qmax 12 -dc 10 -b:v 30M -minrate 30M -maxrate 30M -bufsize 1200000 -rc_init_occupancy 1200000 -flags +ildct+low_delay -ps 1'
      const coded = ['-c:v', 'mpeg2video', ...imx.split(' '), '-c:a', 'pcm_s16le', '-f', 'mxf_d10']
      const filters = ['-vf', 'pad=720:608:0:32:white', '-aspect', '4:3']
      return {
        path: await shop.clip('imx.mxf', size, [...filters, ...coded]),
        seen: await watch({ video: plain }, { ownShape: true }),
      }
    },
  },
  {
    // Not with a beep, whose beginning the judge would not see.
    kind: 'broadcast: the sound begins two seconds later',
    make: async (shop) => {
      const video = await shop.clip('late.h264', { seconds: 5, only: 'video' }, [...X264, '-bf', '0'])
      const sound = await shop.clip('late.mp2', { seconds: 2.6, from: 2.4, only: 'sound' }, MP2)
      return {
        path: await shop.convert('-r', '25', '-i', video, '-itsoffset', '2.4', '-i', sound, '-c', 'copy', 'late.ts'),
      }
    },
  },
  {
    kind: 'stream: a segment of a live stream that begins within a GOP',
    known: { why: 'the first picture is held until there is another', faults: /./ },
    make: async (shop) => {
      const whole = await shop.clip('live.ts', { seconds: 6 }, [...X264, '-g', '50', ...AAC])
      const bytes = await readFile(whole)
      const cut = Math.floor(bytes.length / 188 / 5) * 188
      await writeFile(shop.file('torn.ts'), bytes.subarray(cut))
      return { path: shop.file('torn.ts') }
    },
  },
]
