// In charge of: checks of outputs in a browser: they play to the end without an error, change the rendition, show
// captions and ad breaks. The players and their page are those of test/node/players.
// Not in charge of: browsers (programs/firefox.ts, programs/webkit.ts).
import { rm } from 'node:fs/promises'
import type { JobName } from './validatedJobs.ts'
import { absolutePath, filesEndingWith, type PlantedFault, type Finding, type ValidationReport } from './validator.ts'
import type { Output } from './jobOutputs.ts'
import { SOURCE_CLIP } from './sourceClip.ts'

export type Player = 'native' | 'hls' | 'shaka' | 'dash'

/** What page.js records, without bytes. */
export interface PlaybackReport {
  errors: string[]
  heights: number[]
  texts: { text: string }[]
  cues: { start: number }[]
  switched: number | null
  duration: number | null
  ended: boolean
  total: number
  buffered: [number, number][]
}

/** Script for the page that returns its records. */
export const REPORT = `JSON.stringify({ ...report(), appended: undefined, pictures: undefined })`

interface Play {
  player: Player
  path: string
  renditions: number
  captions: boolean
  cues: boolean
}

const one = (player: Player, path: string, rest: Partial<Play> = {}): Play => {
  return { player, path, renditions: 2, captions: false, cues: false, ...rest }
}
const film = [one('native', 'film.mp4', { renditions: 1 })]
const all = { captions: true, cues: true }

/** Addresses that browsers play, by job. */
export const PLAYBACKS: Partial<Record<JobName, readonly Play[]>> = {
  'mp4-h264': film,
  'mp4-hevc': film,
  'hls-ts': [one('hls', 'show/master.m3u8', all)],
  'hls-ts-separate': [one('hls', 'show/master.m3u8')],
  cmaf: [
    one('hls', 'show/master.m3u8', all),
    one('shaka', 'show/manifest.mpd', all),
    one('dash', 'show/manifest.mpd', all),
    one('hls', 'show/tar.m3u8', { captions: true }),
  ],
  'cmaf-hevc': [one('hls', 'show/master.m3u8', { cues: true }), one('shaka', 'show/manifest.mpd', { cues: true })],
  smooth: [one('dash', 'show/show.ism/Manifest')],
}

/** hls.js reports with each error whether it is fatal. */
export const isFatal = (error: string): boolean => !/^\w+ false /.test(error)

function findingsOf(play: Play, shown: PlaybackReport): Finding[] {
  const findings: Finding[] = []
  const says = (rule: string, sentence: unknown): void =>
    void findings.push({ rule, says: `${play.player}, ${play.path}: ${String(sentence)}` })
  for (const error of shown.errors.filter(isFatal)) says('error', error)
  if (!shown.ended) says('end', `it stopped, with ${JSON.stringify(shown.buffered)} s in the buffer`)
  const frame = 1 / SOURCE_CLIP.rate
  if (shown.duration === null || Math.abs(shown.duration - SOURCE_CLIP.seconds) >= frame - 0.001)
    says('duration', `${shown.duration} s`)
  if (shown.buffered.length > 1) says('gap', JSON.stringify(shown.buffered))
  // HLS lists each rendition once per audio group.
  if (play.renditions > 1 && !((shown.switched ?? 0) >= play.renditions))
    says('renditions', `${shown.switched} instead of ${play.renditions}`)
  if (play.captions && !shown.texts.some(({ text }) => text.trim() === SOURCE_CLIP.caption))
    says('captions', JSON.stringify(shown.texts))
  if (play.cues && !shown.cues.some(({ start }) => Math.abs(start - SOURCE_CLIP.splice) < 0.01))
    says('cues', JSON.stringify(shown.cues))
  return findings
}

/** Plays everything of an output, one after the other or in parallel. */
export async function playInBrowser(
  output: Output,
  play: (player: Player, address: string) => Promise<PlaybackReport>,
  wanted: (play: Play) => boolean,
  atOnce: boolean,
): Promise<ValidationReport> {
  const plays = (PLAYBACKS[output.job] ?? []).filter(wanted)
  const shown: PlaybackReport[] = []
  if (atOnce) shown.push(...(await Promise.all(plays.map(({ player, path }) => play(player, output.url(path))))))
  else for (const { player, path } of plays) shown.push(await play(player, output.url(path)))
  return {
    findings: plays.flatMap((each, index) => findingsOf(each, shown[index]!)),
    report: plays
      .map(({ player, path }, index) => `${player} ${path}\n${JSON.stringify(shown[index], null, 1)}`)
      .join('\n'),
  }
}

/** The same for every browser. */
export const FAULTS: readonly PlantedFault[] = [
  {
    job: 'hls-ts-separate',
    what: 'a video segment is gone',
    damage: async (output) => {
      for (const path of filesEndingWith(output, '/00002.ts')) {
        if (!path.includes('/audio')) await rm(absolutePath(output, path))
      }
    },
    finds: '',
  },
]
