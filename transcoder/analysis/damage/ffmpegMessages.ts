// In charge of: parsing ffmpeg's log while it decodes, line by line: which lines report damage of the source, and of
// what kind.
// The events are the same for ffmpeg 5 and 7, whose messages and contexts differ.
// Not in charge of: counting (damageMonitor.ts), why a run failed (ffmpeg/exit.ts).

export type Damage =
  /**
   * A packet that arrived damaged, or that a decoder could not decode. `ticks`: its time on the clock of a transport
   * stream.
   */
  | { kind: 'packet'; stream: number | null; ticks: number | null }
  /** A frame with concealed errors: parts of it were estimated. */
  | { kind: 'frame'; stream: number | null }
  /** Silence that replaces missing audio. `context`: the filter that inserted it. */
  | { kind: 'silence'; context: string; samples: number }
  /** Any other error of a demuxer or decoder. `name`: the demuxer or decoder. */
  | { kind: 'message'; name: string; text: string }

export interface LogContext {
  /** ffmpeg's names of the source's container, as one string: "mov,mp4,m4a,3gp,3g2,mj2". */
  format: string
  /** Names of decoders, without those that are also the name of an encoder in use. */
  decoders: ReadonlySet<string>
}

interface Line {
  /** Names before each " @ ": `vist#0:0/h264`, `dec:h264`. */
  contexts: string[]
  /** The whole context, with addresses: they distinguish filters of the same name. */
  origin: string
  level: string
  text: string
}

const LINE = /^((?:\[[^\]]+\] )*)\[(fatal|error|warning|info|verbose)\] (.*)/
const SERIOUS = new Set(['fatal', 'error', 'warning'])

/**
 * False for a line that only this parser needs: in the stored end of the log it would displace lines that explain a
 * failure.
 */
export function isDiagnostic(line: string): boolean {
  const [, , level, text = ''] = LINE.exec(line) ?? []
  return level === undefined || (SERIOUS.has(level) && !CHANGED_FRAME.test(text))
}

/** ffmpeg 5 says it of every frame after a change. The first filters follow it (plan/argv/steadyFrames.ts). */
const CHANGED_FRAME = /^(Changing video frame properties on the fly|filter context - w:)/

/** Errors of a decoder before this line come from probing: the same packets are decoded again later. */
export function isDecodingStart(line: string): boolean {
  return line.startsWith('[info] Stream mapping:')
}

/** The first frame has left the filters. In a range of the video, it is the first frame that counts. */
export function isEncodingStart(line: string): boolean {
  return line.startsWith('[info] Output #')
}

/**
 * Index of the source stream whose first decoded frame configures the filters; null = another line. Messages before the
 * first such line belong to the source's beginning.
 */
export function filteredStream(line: string): number | null {
  return parseInteger(/^0:(\d+)$/.exec(filteredPad(line) ?? '')?.[1])
}

/** The same with the input: `0:1`. */
export function filteredPad(line: string): string | null {
  const [, input, stream] = /^\[graph[ _]\d+[ _]in(?:put from stream |_)(\d+)[:_](\d+) @/.exec(line) ?? []
  return input === undefined ? null : `${input}:${stream}`
}

export interface AudioFormat {
  /** source_stream, from 1. */
  stream: number
  layout: string
  sampleRate: number
}

/** The first frame of a stream in a format, at `seconds` on ffmpeg's clock (plan/argv/steadyAudio.ts). null = another line. */
export function readFormat(line: string): { seconds: number; format: AudioFormat } | null {
  const [, stream, seconds, layout, sampleRate] = FORMAT.exec(line) ?? []
  if (stream === undefined) return null
  return {
    seconds: Number(seconds),
    format: { stream: Number(stream), layout: layout!, sampleRate: Number(sampleRate) },
  }
}

const FORMAT =
  /^\[ashowinfo@f(\d+) @ [^\]]*\] \[info\] n:0 .*\bpts_time:(-?[\d.]+) .*\b(?:chlayout|channel_layout):(.+) rate:(\d+)/

/** The size of the frames that reach the first filter of a graph; `seconds` on ffmpeg's clock where it is a new one. */
export interface FrameSize {
  width: number
  height: number
  seconds: number | null
}

/** null = another line. */
export function readFrameSize(line: string): FrameSize | null {
  const [, width, height, seconds] = NEW_SIZE.exec(line) ?? FIRST_SCALE.exec(line) ?? []
  if (width === undefined) return null
  return { width: Number(width), height: Number(height), seconds: seconds === undefined ? null : Number(seconds) }
}

/** The time, on ffmpeg's clock, from which frames have limited range behind full range; null = another line. */
export function readLimitedRange(line: string): number | null {
  const [, seconds] = LIMITED_RANGE.exec(line) ?? []
  return seconds === undefined ? null : Number(seconds)
}

const LIMITED_RANGE =
  /^\[graph [^\]]*\] (?:\[\w+\] )?filter context - [^,]*range: pc, incoming frame - [^,]*range: tv pts_time: (-?[\d.]+)$/
const NEW_SIZE = /incoming frame - w: (\d+) h: (\d+) .*\bpts_time: (-?[\d.]+)$/
const FIRST_SCALE = /^\[Parsed_scale_0 @ [^\]]*\] \[verbose\] w:(\d+) h:(\d+) .* -> /

/** null = the line reports no damage. `isDecoding`: `isDecodingStart` was true for an earlier line. */
export function readDamage(text: string, { format, decoders }: LogContext, isDecoding: boolean): Damage | null {
  const line = parse(text)
  if (line === null) return null
  const silence = / adding (\d+) audio samples of silence$/.exec(` ${line.text}`)
  if (silence !== null) return { kind: 'silence', context: line.origin, samples: Number(silence[1]) }
  if (!SERIOUS.has(line.level)) return null
  const found = packet(line, format)
  // Probing reports it too; only a packet with a time stamp can be recognised as the same.
  if (found !== null) return isDecoding || found.ticks !== null ? found : null
  return frame(line) ?? message(line, { format, decoders }, isDecoding)
}

function parse(text: string): Line | null {
  const [, origin, level, words] = LINE.exec(text) ?? []
  if (origin === undefined || level === undefined || words === undefined) return null
  const contexts = [...origin.matchAll(/\[([^[\]]+)\]/g)].map(([, name]) => name!.split(' @ ')[0]!)
  return { contexts, origin, level, text: words }
}

function packet({ contexts, text }: Line, format: string): Extract<Damage, { kind: 'packet' }> | null {
  if (format === 'mpegts') {
    // ffmpeg repeats the message for each frame that it extracts from the packet.
    const [, stream, ticks] = /^Packet corrupt \(stream = (\d+), dts = (\w+|-\d+)\)/.exec(text) ?? []
    if (stream !== undefined) return { kind: 'packet', stream: Number(stream), ticks: parseInteger(ticks) }
  } else {
    const corrupt = /corrupt input packet in stream (\d+)$/.exec(text)
    if (corrupt !== null) return { kind: 'packet', stream: Number(corrupt[1]), ticks: null }
  }
  const refused = /^Error while decoding stream #0:(\d+)/.exec(text)
  if (refused !== null) return { kind: 'packet', stream: Number(refused[1]), ticks: null }
  if (/^(Error submitting .*to decoder|Decoding error|Error processing packet in decoder)/.test(text))
    return { kind: 'packet', stream: streamOf(contexts), ticks: null }
  return null
}

function frame({ contexts, text }: Line): Damage | null {
  if (!/\bcorrupt decoded frame\b/.test(text)) return null
  return { kind: 'frame', stream: parseInteger(/in stream (\d+)$/.exec(text)?.[1]) ?? streamOf(contexts) }
}

/**
 * Logged for streams that were edited, or that begin within a group of pictures, without a visible effect on frames.
 */
const HARMLESS = [
  /^mmco: unref short failure/,
  /^co located POCs unavailable/,
  /^number of reference frames .* exceeds max/,
  /^illegal short term buffer state/,
  /^Warning MVs not available/,
]

function message({ contexts, level, text }: Line, reading: LogContext, isDecoding: boolean): Damage | null {
  if (level === 'warning' || contexts.length !== 1 || HARMLESS.some((pattern) => pattern.test(text))) return null
  const [context = ''] = contexts
  const isHere = context === reading.format || (isDecoding && reading.decoders.has(context))
  return isHere ? { kind: 'message', name: context, text: text.slice(0, 200) } : null
}

/** Number of the stream, from a context like `vist#0:2/h264`. Only the first input counts: the second one is the logo. */
function streamOf(contexts: readonly string[]): number | null {
  return parseInteger(
    contexts.map((name) => /^[a-z]+ist#0:(\d+)\//.exec(name)?.[1]).find((found) => found !== undefined),
  )
}

function parseInteger(text: string | undefined): number | null {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : null
}
