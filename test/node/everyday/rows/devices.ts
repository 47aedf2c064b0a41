// In charge of: what phones, cameras, drones, calls and screen recorders leave.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import type { Row } from '../row.ts'
import { watch } from '../watch.ts'
import { AAC, X264, type Workshop } from '../workshop.ts'

/** Bits of the video are copied from this second on, in the middle of a GOP: the file has an edit list. */
const cutAt = (second: number): string[] => ['-ss', `${second}`]

/** Names the codec of a track as one that ffmpeg does not know. */
async function undecodable(shop: Workshop, path: string, codec: string, where: 'first' | 'last'): Promise<string> {
  await shop.patch(path, 'mp4a', codec, where)
  return shop.patch(path, 'esds', 'dcfg', where)
}

export const DEVICE_ROWS: readonly Row[] = [
  {
    kind: 'phone: upright, by a rotation, trimmed with an edit list',
    short: true,
    make: async (shop) => {
      // The sensor lies on its side.
      const upright = { width: 180, height: 320, seconds: 5, rate: 30 }
      const whole = await shop.clip('whole.mp4', upright, ['-vf', 'transpose=2', ...X264, '-bf', '2', ...AAC])
      const turned = await shop.convert('-i', whole, '-c', 'copy', '-metadata:s:v:0', 'rotate=90', 'turned.mp4')
      return { path: await shop.convert(...cutAt(0.7), '-i', turned, '-map', '0', '-c', 'copy', 'phone.mp4') }
    },
  },
  {
    kind: 'phone: HEVC in MOV, AAC first, then a track that nobody can decode',
    make: async (shop) => {
      const flags = ['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-tag:v', 'hvc1']
      const tracks = ['-map', '0:v', '-map', '1:a', '-map', '1:a', ...AAC, '-x265-params', 'log-level=none']
      const path = await shop.clip('hevc.mov', { seconds: 3, rate: 30 }, [...flags, ...tracks])
      return { path: await undecodable(shop, path, 'apac', 'last') }
    },
  },
  ...(['first', 'only'] as const).map((which): Row => ({
    kind: `phone: the ${which} track of sound is one that nobody can decode`,
    warns: ['audio_left_out'],
    make: async (shop) => {
      const tracks = which === 'only' ? [] : ['-map', '0:v', '-map', '1:a', '-map', '1:a']
      const path = await shop.clip('sound.mp4', { seconds: 3 }, [...X264, ...tracks, ...AAC])
      const silent = await shop.convert('-i', path, '-an', '-c', 'copy', 'silent.mp4')
      const seen = await watch({ video: silent }, { ownShape: true })
      return { path: await undecodable(shop, path, 'apac', 'first'), seen }
    },
  })),
  {
    kind: 'phone: slow motion at 120 fps',
    make: async (shop) => ({
      path: await shop.clip('slow.mp4', { seconds: 3, rate: 120 }, [...X264, ...AAC]),
    }),
  },
  {
    kind: 'camera: AVCHD, interlaced, AC-3 5.1',
    make: async (shop) => {
      const lines = ['-flags', '+ilme+ildct', '-x264-params', 'tff=1', '-aspect', '16:9']
      const sound = ['-c:a', 'ac3', '-b:a', '384k', '-mpegts_m2ts_mode', '1']
      const size = { width: 720, height: 576, seconds: 3, channels: 6 }
      return { path: await shop.clip('camera.mts', size, [...X264, ...lines, ...sound, '-f', 'mpegts']) }
    },
  },
  {
    kind: 'camera: Motion JPEG and PCM in AVI',
    make: async (shop) => ({
      path: await shop.clip('mjpeg.avi', { seconds: 3 }, ['-c:v', 'mjpeg', '-q:v', '3', '-c:a', 'pcm_s16le']),
    }),
  },
  {
    kind: 'drone: a preview picture as first track, telemetry, timecode',
    short: true,
    make: async (shop) => {
      const video = await shop.clip('flight.mp4', { seconds: 3, rate: 30 }, [...X264, ...AAC])
      const preview = await shop.convert('-i', video, '-frames:v', '1', '-an', '-c:v', 'mjpeg', 'preview.mov')
      const order = ['-map', '0:v', '-map', '1', '-c', 'copy', '-timecode', '10:00:00:00']
      const marks = ['-disposition:v:0', '0', '-disposition:v:1', 'default']
      return { path: await shop.convert('-i', preview, '-i', video, ...order, ...marks, 'drone.mov') }
    },
  },
  {
    kind: 'call: the size changes twice with the bandwidth',
    make: async (shop) => {
      const sizes = [
        [320, 180],
        [160, 90],
        [640, 360],
      ] as const
      const pieces: string[] = []
      for (const [index, [width, height]] of sizes.entries()) {
        const options = { seconds: 2, rate: 25, width, height, from: 2 * index, only: 'video' } as const
        pieces.push(await shop.clip(`size-${index}.h264`, options, [...X264, '-bf', '0']))
      }
      const video = await shop.append('sizes.h264', pieces)
      const sound = await shop.clip('call.wav', { seconds: 6, only: 'sound' }, [])
      const both = ['-r', '25', '-i', video, '-i', sound, '-c:v', 'copy', '-c:a', 'libopus', 'call.mkv']
      return { path: await shop.convert(...both) }
    },
  },
  {
    kind: 'call: sound with gaps',
    make: async (shop) => {
      const gaps = ['-af', 'aselect=not(between(t\\,1.3\\,2.4)+between(t\\,3.2\\,3.6))']
      return { path: await shop.clip('gaps.mkv', { seconds: 5 }, [...X264, ...gaps, '-c:a', 'libopus']) }
    },
  },
  {
    kind: 'screen: bursts of 60 fps between still pictures',
    make: async (shop) => {
      const kept = ['-vf', 'select=lt(t\\,0.8)+gte(t\\,2.2)*lt(t\\,3)+eq(n\\,250)+gte(t\\,4.8)', '-fps_mode', 'vfr']
      return { path: await shop.clip('screen.mkv', { seconds: 5, rate: 60 }, [...kept, ...X264, ...AAC]) }
    },
  },
  {
    kind: 'screen: a recording of a phone at 17 to 30 fps',
    make: async (shop) => {
      const kept = ['-vf', 'select=mod(n\\,5)*mod(n\\,7)', '-fps_mode', 'vfr', '-video_track_timescale', '90000']
      return { path: await shop.clip('uneven.mp4', { seconds: 4, rate: 30 }, [...kept, ...X264, ...AAC]) }
    },
  },
  {
    kind: 'slides: three pictures, the last one for four seconds',
    make: async (shop) => ({ path: await shop.kept('web-slides-last-long.mp4') }),
  },
  {
    kind: 'screen: uneven times, 3026 pixels wide, thumbnails',
    make: async (shop) => ({ path: await shop.kept('web-no-progress-thumbnails.mp4') }),
  },
]
