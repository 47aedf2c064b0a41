// In charge of: the clips of a first hour: those with which defaults have failed before, and a typical one.
// Not in charge of: what the tests do with them.
import { testFfmpeg, ffmpeg, makeClip } from '../../support/media/media.ts'
import { makePlayerClip } from '../../support/media/playerClip.ts'

type File = (name: string) => string

export const CLIPS = {
  /** Like a screen recording or a drone's video: no audio stream. */
  silent: (file: File) => makeClip(file('silent.mp4'), { width: 1280, height: 720, seconds: 4, audio: [] }),
  /** Smaller than every rendition of a typical ladder. */
  tiny: (file: File) => makeClip(file('tiny.mp4'), { width: 160, height: 90, seconds: 3, audio: [1] }),
  /** As a phone stores it: landscape frames, and a rotation matrix. */
  portrait: async (file: File) => {
    await makeClip(file('landscape.mp4'), { width: 640, height: 360, rate: '30', seconds: 4, audio: [2] })
    return turned(file('landscape.mp4'), file('portrait.mp4'))
  },
  /** A broadcast recording: a transport stream with MPEG-1 audio and CEA-608. */
  captioned: (file: File) => makePlayerClip(file, 25 * 6),
} as const

export type ClipName = keyof typeof CLIPS

/** From ffmpeg 6 on, the matrix of a copied stream comes from an input option; earlier versions write it from a tag. */
async function turned(from: string, to: string): Promise<string> {
  const { version } = await testFfmpeg()
  const args =
    Number.parseInt(version, 10) >= 6
      ? ['-display_rotation', '90', '-i', from]
      : ['-i', from, '-metadata:s:v', 'rotate=90']
  await ffmpeg([...args, '-c', 'copy', to])
  return to
}
