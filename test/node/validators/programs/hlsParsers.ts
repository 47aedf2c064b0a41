// In charge of: HLS playlists in two independent, strict parsers: hls-parser and Python's m3u8; and further checks of
// Apple's validator: segments have the durations and sizes that the playlists declare, by mp4ff, tstools and the sizes
// on disk.
// Not in charge of: players.
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import * as HLS from 'hls-parser'
import { absolutePath, rewriteFile, filesEndingWith, replaceText, type Finding, type Validator } from '../validator.ts'
import { missingPrograms, PYTHON, scriptPath } from '../installedPrograms.ts'
import type { Output } from '../jobOutputs.ts'
import { readSegmentSizes } from '../segmentSizes.ts'
import { runProgram } from '../../../support/runProgram.ts'

/** In strict mode it throws where it would otherwise tolerate an error. */
function strictly(text: string): { playlist: HLS.types.MasterPlaylist | HLS.types.MediaPlaylist | null; says: string } {
  HLS.setOptions({ strictMode: true, silent: true })
  try {
    return { playlist: HLS.parse(text), says: '' }
  } catch (error) {
    return { playlist: null, says: (error as Error).message }
  } finally {
    HLS.setOptions({ strictMode: false })
  }
}

/** RFC 8216bis, 4.4.6.2: BANDWIDTH is the highest rate of any segment or run of segments of about a target duration. */
async function rates(output: Output, path: string): Promise<{ peak: number; average: number; findings: Finding[] }> {
  const { seconds, sizes, target } = await readSegmentSizes(output, path)
  const findings: Finding[] = []
  const longest = Math.max(...seconds)
  if (Math.round(longest) > target)
    findings.push({ rule: 'RFC 8216bis 4.4.3.1: EXT-X-TARGETDURATION', says: `${path}: a segment of ${longest} s` })
  const peaks = seconds.flatMap((_, from) => {
    const found: number[] = []
    let time = 0
    let bits = 0
    for (let to = from; to < seconds.length && time <= 1.5 * target; to++) {
      time += seconds[to]!
      bits += 8 * sizes[to]!
      if (time >= 0.5 * target && time <= 1.5 * target) found.push(bits / time)
    }
    return found
  })
  const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0)
  return { peak: Math.max(0, ...peaks), average: (8 * sum(sizes)) / sum(seconds), findings }
}

async function bandwidths(output: Output, path: string, master: HLS.types.MasterPlaylist): Promise<Finding[]> {
  const findings: Finding[] = []
  const at = (uri: string): string => posix.join(posix.dirname(path), uri)
  for (const variant of master.variants) {
    const video = await rates(output, at(variant.uri))
    findings.push(...video.findings)
    const audio = []
    for (const { uri } of variant.audio) if (uri !== undefined) audio.push(await rates(output, at(uri)))
    const most = video.peak + Math.max(0, ...audio.map(({ peak }) => peak))
    if (most > variant.bandwidth * 1.000001)
      findings.push({
        rule: 'RFC 8216bis 4.4.6.2: BANDWIDTH',
        says: `${path}, ${variant.uri}: ${Math.ceil(most)} bit/s, the playlist says ${variant.bandwidth}`,
      })
    if (!variant.isIFrameOnly && variant.averageBandwidth === undefined)
      findings.push({ rule: 'HLS authoring 9.14: AVERAGE-BANDWIDTH', says: `${path}, ${variant.uri}` })
    if (!variant.isIFrameOnly && (variant.codecs === undefined || variant.resolution === undefined))
      findings.push({ rule: 'HLS authoring 9.3: CODECS and RESOLUTION', says: `${path}, ${variant.uri}` })
  }
  if (!master.variants.some(({ isIFrameOnly }) => isIFrameOnly))
    findings.push({ rule: 'HLS authoring 6.1: I-frame playlists', says: path })
  return findings
}

export const playlists: Validator = {
  name: 'playlists',
  missing: missingPrograms(PYTHON),
  jobs: ['hls-ts', 'hls-ts-separate', 'cmaf', 'cmaf-hevc'],
  faults: [
    {
      job: 'cmaf',
      what: 'the version is lower than decimal durations want',
      damage: (output) =>
        rewriteFile(output, 'high/playlist.m3u8', replaceText('#EXT-X-VERSION:6', '#EXT-X-VERSION:2')),
      finds: 'm3u8',
    },
    {
      job: 'hls-ts',
      what: 'the bandwidth is a tenth of the true one',
      damage: (output) => rewriteFile(output, 'master.m3u8', replaceText(/([^-]BANDWIDTH=\d+)\d,/, '$1,')),
      finds: 'BANDWIDTH',
    },
    {
      job: 'hls-ts',
      what: 'EXT-X-TARGETDURATION is missing',
      damage: (output) => rewriteFile(output, 'low/playlist.m3u8', replaceText(/#EXT-X-TARGETDURATION:\d+\n/, '')),
      finds: 'hls-parser',
    },
  ],
  async validate(output) {
    const findings: Finding[] = []
    const paths = filesEndingWith(output, '.m3u8')
    const { code, stdout, stderr } = await runProgram(PYTHON, [
      scriptPath('m3u8Playlists.py'),
      ...paths.map((path) => absolutePath(output, path)),
    ])
    if (code !== 0) throw new Error(stderr)
    for (const [index, said] of (JSON.parse(stdout) as string[][]).entries())
      for (const says of said) findings.push({ rule: 'm3u8', says: `${paths[index]}: ${says}` })
    for (const path of paths) {
      const text = (await readFile(absolutePath(output, path))).toString()
      const { playlist, says } = strictly(text)
      if (playlist === null) findings.push({ rule: 'hls-parser', says: `${path}: ${says}` })
      else if (playlist.isMasterPlaylist) findings.push(...(await bandwidths(output, path, playlist)))
    }
    return { findings, report: `${stdout}\n${JSON.stringify(findings, null, 2)}` }
  },
}
