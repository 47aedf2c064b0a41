// In charge of: making sources for rows: clips of the card in any container, pieces put one behind the other, files that
// are kept beside the repository.
// Not in charge of: which sources (rows), expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { existsSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ffmpeg } from '../../support/media/media.ts'
import { cardSound, writeCard, type CardOptions } from './card.ts'
import { watch, type Seen } from './watch.ts'

export const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50']
export const AAC = ['-c:a', 'aac', '-b:a', '128k']

/** What a row needs and this machine lacks: the row is skipped with this sentence. */
export class Missing extends Error {}

export interface ClipOptions extends CardOptions {
  /** 0: no sound. Default: 2. */
  channels?: number
  soundRate?: number
  /** Files of one kind of stream. */
  only?: 'video' | 'sound'
}

export interface Source {
  path: string
  /** Default: what ffmpeg shows of the file. */
  seen?: Seen
}

/** Makes files in one directory. */
export class Workshop {
  readonly #directory: string
  #cards = 0
  constructor(directory: string) {
    this.#directory = directory
  }

  file(name: string): string {
    return join(this.#directory, name)
  }

  /** The card and its sound, encoded as the flags say. Returns the path. */
  async clip(name: string, options: ClipOptions, flags: readonly string[]): Promise<string> {
    const { seconds, from, channels = 2, soundRate: rate, only } = options
    const video = only === 'sound' ? [] : await writeCard(this.file(`card-${(this.#cards += 1)}.yuv`), options)
    const hasSound = channels > 0 && only !== 'video'
    const sound = hasSound ? cardSound(seconds, { channels, ...(from && { from }), ...(rate && { rate }) }) : []
    await ffmpeg([...video, ...sound, ...flags, this.file(name)])
    return this.file(name)
  }

  /** Runs ffmpeg on files; the last word is the name of the output. */
  async convert(...words: readonly string[]): Promise<string> {
    const path = this.file(words.at(-1)!)
    await ffmpeg([...words.slice(0, -1), path])
    return path
  }

  /** The bytes of the files, one behind the other. */
  async append(name: string, files: readonly string[]): Promise<string> {
    await writeFile(this.file(name), Buffer.concat(await Promise.all(files.map((file) => readFile(file)))))
    return this.file(name)
  }

  /** Replaces a word by another of the same length where it stands first or last. */
  async patch(path: string, word: string, by: string, where: 'first' | 'last'): Promise<string> {
    const bytes = await readFile(path)
    bytes.write(by, where === 'first' ? bytes.indexOf(word) : bytes.lastIndexOf(word), 'latin1')
    await writeFile(path, bytes)
    return path
  }

  /** A file that is kept beside the repository: in `shared/cases` or `shared/media`. */
  async kept(name: string): Promise<string> {
    const media = process.env['TEST_MEDIA_DIR'] ?? resolve(import.meta.dirname, '../../../../shared/media')
    const directories = [media, join(media, '../cases')]
    const found = directories.map((directory) => join(directory, name)).find((path) => existsSync(path))
    if (found === undefined) throw new Missing(`${name} is neither in ${directories.join(' nor in ')}`)
    await copyFile(found, this.file(name))
    return this.file(name)
  }
}

/** What a viewer should see of files that follow each other. */
export async function watchInTurn(paths: readonly string[]): Promise<Seen> {
  const [first, ...further] = await Promise.all(paths.map((video) => watch({ video }, { ownShape: true })))
  return further.reduce(inTurn, first!)
}

export function inTurn(before: Seen, after: Seen): Seen {
  const shift = before.pictures[0]!.second + before.videoSeconds - after.pictures[0]!.second
  const moved = after.pictures.map((picture) => ({ ...picture, second: picture.second + shift }))
  const [one, two] = [before.sound, after.sound]
  const sound =
    one === null || two === null
      ? (one ?? (two && { ...two, start: two.start + shift }))
      : {
          start: one.start,
          overlap: 0,
          // Mono is heard in both channels of what a stereo piece makes stereo.
          channels: Array.from(
            { length: Math.min(2, Math.max(one.channels.length, two.channels.length)) },
            (_, channel) => {
              const place = Math.round((two.start + shift - one.start) * 48_000)
              const [samples, added] = [one, two].map(
                ({ channels }) => channels[Math.min(channel, channels.length - 1)]!,
              )
              const laid = new Float32Array(place + added!.length)
              laid.set(samples!.subarray(0, place))
              laid.set(added!, place)
              return laid
            },
          ),
        }
  return {
    pictures: [...before.pictures, ...moved],
    videoSeconds: before.videoSeconds + after.videoSeconds,
    sound,
  }
}
