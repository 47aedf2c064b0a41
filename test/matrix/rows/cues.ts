// In charge of: SCTE-35 cues in transport streams.
import { readFile } from 'node:fs/promises'
import { scanCues, readCues } from '../../support/mpegts/cueClips.ts'
import { decodeFrames } from '../../support/media/media.ts'
import { measurement, storedConfigRow, type JobChange, type Row } from '../row.ts'
import { SPLICE_SECONDS } from '../sourceClips.ts'

const SPLICE_FRAME = Math.round(SPLICE_SECONDS * 25)

function passed(path: string, value: unknown, change: JobChange, pid: number): Row {
  return {
    path,
    value,
    expected: `the splice_insert on PID ${pid}, at ${SPLICE_SECONDS} s, with a key frame there`,
    job: { output_container: 'ts', ...change },
    source: 'cues',
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const bytes = await readFile(file)
      const [cue] = readCues(bytes)
      const { pids } = scanCues(bytes)
      const keys = (await decodeFrames(file)).flatMap((frame, index) => (frame.key_frame === 1 ? [index] : []))
      const at = cue?.splices[0]
      const key = keys.includes(SPLICE_FRAME)
      return measurement(
        `${cue?.kind} on PID ${pids.join(', ')} at ${at?.toFixed(2)} s, ${key ? '' : 'no '}key frame`,
        pids.join() === `${pid}` && Math.abs((at ?? 0) - SPLICE_SECONDS) < 0.001 && key && cue?.eventId === 1001,
      )
    },
  }
}

function dropped(path: string): Row {
  return {
    path,
    value: false,
    expected: 'no cues, and key frames only on the grid',
    job: { output_container: 'ts', [path]: false },
    source: 'cues',
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      // The scan needs the start of the clock, which it finds from the video frames.
      const { pids, cues } = scanCues(await readFile(file))
      const keys = (await decodeFrames(file)).flatMap((frame, index) => (frame.key_frame === 1 ? [index] : []))
      const measured = `${cues.length} cues, ${pids.length} PIDs of cues, key frames at ${keys.join(', ')}`
      return measurement(measured, cues.length === 0 && pids.length === 0 && keys.join() === '0,25,50')
    },
  }
}

const on = { scte35_passthough: true }

export const cues: Row[] = [
  passed('scte35_passthough', true, on, 600),
  {
    path: 'scte35_passthough',
    value: true,
    expected: 'a source without cues: a warning',
    job: { output_container: 'ts', ...on },
    measure: async (bench) => {
      const warnings = await bench.warnings()
      return measurement(warnings.join(', '), warnings.join() === 'no_cues')
    },
  },
  dropped('scte35_passthough'),
  passed('scte35_passthrough', true, { scte35_passthrough: true }, 600),
  storedConfigRow(
    {
      path: 'scte35_passthrough',
      value: true,
      expected: 'stored as scte35_passthough',
      job: { output_container: 'ts', scte35_passthrough: true },
    },
    (config) => {
      const { scte35_passthough: legacy } = config
      const alias = 'scte35_passthrough' in config
      return measurement(`scte35_passthough ${legacy}${alias ? ', and the alias' : ''}`, legacy && !alias)
    },
  ),
  dropped('scte35_passthrough'),
  passed('scte35_pid_remap', -1, { ...on, scte35_pid_remap: -1 }, 600),
  passed('scte35_pid_remap', 32, { ...on, scte35_pid_remap: 32 }, 32),
  passed('scte35_pid_remap', 8190, { ...on, scte35_pid_remap: 8190 }, 8190),
]
