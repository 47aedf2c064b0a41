// In charge of: time expressions of TTML (W3C TTML2, 12.3.1) as seconds.
// Not in charge of: which element a time belongs to (ttmlReader.ts).
import { timecodeSeconds, type FrameCount } from './timecode.ts'

/** The parameters of a document (7.2). */
export interface TtmlClock {
  /** Frames per second, exact. */
  rate: FrameCount['rate']
  /** ttp:frameRate, of which timecodes count the numbers. */
  subFrames: number
  ticksPerSecond: number
  /** Times are timecodes: their seconds last a whole number of frames. */
  isTimecode: boolean
  dropMode: 'nonDrop' | 'dropNTSC' | 'dropPAL'
}

const CLOCK_TIME = /^(\d{2,5}):([0-5]\d):([0-5]\d|60)(?:(\.\d{1,12})|[:;.](\d{2,3})(?:\.(\d{1,3}))?)?$/
const OFFSET_TIME = /^(\d{1,12}(?:\.\d{1,12})?)(h|m|s|ms|f|t)$/

/** `attribute`: of the root element, by the name without its prefix. null = a value cannot be read. */
export function readClock(attribute: (name: string) => string | undefined): TtmlClock | null {
  const frameRate = Number(attribute('frameRate') ?? 30)
  const [num, den] = (attribute('frameRateMultiplier') ?? '1 1').trim().split(/[ :]+/).map(Number)
  const subFrames = Number(attribute('subFrameRate') ?? 1)
  const ticks = attribute('tickRate')
  const given = attribute('frameRate') === undefined ? 1 : frameRate * subFrames
  const clock: TtmlClock = {
    rate: { num: frameRate * (num ?? 1), den: den ?? 1 },
    subFrames,
    ticksPerSecond: ticks === undefined ? given : Number(ticks),
    isTimecode: attribute('timeBase') === 'smpte',
    dropMode: dropModeOf(attribute('dropMode')),
  }
  const numbers = [clock.rate.num, clock.rate.den, clock.subFrames, clock.ticksPerSecond]
  return numbers.every((value) => Number.isFinite(value) && value > 0 && value < 1e12) ? clock : null
}

function dropModeOf(mode: string | undefined): TtmlClock['dropMode'] {
  return mode === 'dropNTSC' || mode === 'dropPAL' ? mode : 'nonDrop'
}

/** null = not a time. */
export function parseTtmlTime(expression: string, clock: TtmlClock): number | null {
  const text = expression.trim()
  const { rate } = clock
  const offset = OFFSET_TIME.exec(text)
  if (offset !== null) {
    const value = Number(offset[1])
    const seconds = { h: 3600, m: 60, s: 1, ms: 0.001, f: rate.den / rate.num, t: 1 / clock.ticksPerSecond }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- by the expression
    const unit = offset[2] as keyof typeof seconds
    return unit === 'ms' ? value / 1000 : value * seconds[unit]
  }
  const found = CLOCK_TIME.exec(text)
  if (found === null) return null
  const [hours, minutes, seconds] = [Number(found[1]), Number(found[2]), Number(found[3])]
  const frames = Number(found[5] ?? 0) + Number(found[6] ?? 0) / clock.subFrames
  if (!clock.isTimecode)
    return hours * 3600 + minutes * 60 + seconds + Number(`0${found[4] ?? ''}`) + (frames * rate.den) / rate.num
  const nominal = Math.round(rate.num / rate.den)
  const dropped = clock.dropMode === 'dropNTSC' ? Math.round(nominal / 15) : 0
  // M/PAL counts on every second minute, except at each 20th (7.2.5).
  const palMinutes = Math.floor((hours * 60 + minutes) / 2) - Math.floor((hours * 60 + minutes) / 20)
  const pal = clock.dropMode === 'dropPAL' ? (4 * palMinutes * rate.den) / rate.num : 0
  const whole = timecodeSeconds({ hours, minutes, seconds, frames }, { rate, dropped }) - pal
  return whole + (Number(`0${found[4] ?? ''}`) * nominal * rate.den) / rate.num
}
