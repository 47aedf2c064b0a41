// In charge of: reading ffprobe's JSON as a MediaInfo. Any of its fields may be missing or invalid.
// Not in charge of: running ffprobe (transcoder/analysis/probe.ts).
import type { AudioPurpose } from '#contract/job/jobSpec.ts'
import type { AudioStream, MediaInfo, OtherStream, StreamDisposition, VideoStream } from './mediaInfo.ts'
import { pictureLines } from './blanking.ts'
import type { Rational } from '../../formats/rational.ts'
import type { FfprobeJson, ProbeStream } from './probeOutput.ts'
import { chooseVideo, hasMotion, isPicture, isUnreadable } from './streamChoice.ts'
import { distance, ratio, toNumber } from '../../formats/rational.ts'

/** In a source of constant rate the two rates differ by rounding only. */
const VARIABLE_FROM = 0.01
/** Frames per second. A higher value is a time base that was read as a rate (1000, 90000, …), or is measured. */
const MAX_BELIEVED = 300
/** Nominal rate to frame rate: 2 for pictures of two fields, more for a clock in milliseconds. */
const BRIEF_FROM = 1.9
/** Elementary streams: their packets have no times, and ffmpeg takes the rate from the codec's headers. */
const ELEMENTARY = new Set(['h264', 'hevc', 'mpegvideo', 'm4v', 'vc1', 'h263', 'h261', 'cavsvideo'])
/** Containers in which a writer may state a rate that its frames do not have. */
const STATED_RATE = new Set(['matroska', 'webm', 'flv', 'live_flv', 'asf'])
const fieldOrders: readonly VideoStream['fieldOrder'][] = ['progressive', 'tt', 'bb', 'tb', 'bt']

/** Audio for which ffmpeg has no name, by PID. */
export type UnnamedAudio = ReadonlyMap<number, string>

/** `wanted`: the number of the requested program of a transport stream; null = the first one with video. */
export function parseFfprobe(
  document: FfprobeJson,
  wanted: number | null = null,
  unnamed: UnnamedAudio = new Map(),
): MediaInfo {
  const formats = document.format?.format_name?.split(',') ?? []
  const programs = formats.includes('mpegts') ? (document.programs ?? []) : []
  const program = chooseProgram(document, programs, wanted)
  const members = new Set((program?.streams ?? []).map(({ index }) => index))
  const named = (document.streams ?? []).map((stream) => withName(stream, unnamed))
  const streams = named.filter(({ index }) => program === null || members.has(index))
  const videoStreams = streams.filter((stream) => stream.codec_type === 'video' && !isCover(stream) && hasSize(stream))
  // Numbers count every audio stream, also unreadable ones.
  const allAudio = streams.filter((stream) => stream.codec_type === 'audio')
  const audioNumbers = new Map(allAudio.map((stream, at) => [stream, at + 1]))
  const decodableAudio = allAudio.filter((stream) => !isUnreadable(stream))
  const used = new Set(decodableAudio)
  const moving = hasMotion(videoStreams)
  const main = chooseVideo(videoStreams)
  const isCounted =
    named.find(isFirstVideo) === (main ?? named.find(isFirstVideo)) &&
    !named.some((stream, at) => stream !== document.streams?.[at])
  return {
    formats,
    ...(program === null
      ? { durationSeconds: fileDuration(document), startSeconds: number(document.format?.start_time) }
      : extent(streams)),
    sizeBytes: positive(document.format?.size),
    video: main === undefined ? null : readVideo(main, formats),
    audio: decodableAudio.map((stream) => readAudio(stream, audioNumbers.get(stream)!, formats)),
    program:
      program?.program_num === undefined
        ? null
        : { number: program.program_num, fileStartSeconds: number(document.format?.start_time) },
    programs: programs.flatMap(({ program_num }) => program_num ?? []),
    ...(isCounted || program !== null ? {} : { selectedBy: formats.includes('mpegts') ? 'id' : 'index' }),
    other: streams
      .filter((stream) => stream !== main && !used.has(stream))
      .map((stream) => readOther(stream, audioNumbers.get(stream) ?? 0, moving && isPicture(stream))),
  }
}

type Program = NonNullable<FfprobeJson['programs']>[number]

/** null where the file has no programs, or no program matches. */
function chooseProgram(document: FfprobeJson, programs: readonly Program[], wanted: number | null): Program | null {
  if (wanted !== null) return programs.find(({ program_num }) => program_num === wanted) ?? null
  if (programs.length < 2) return null
  const videos = (document.streams ?? []).filter((stream) => stream.codec_type === 'video' && hasSize(stream))
  const pictures = new Set(videos.map(({ index }) => index))
  return programs.find(({ streams }) => streams?.some(({ index }) => pictures.has(index))) ?? null
}

/** More is no offset of an encoder. */
const LATE_SECONDS = 1

/** Matroska's duration may be the end of a recording that begins late: it is where the tags of its streams have it. */
function fileDuration({ format, streams = [] }: FfprobeJson): number | null {
  const stated = positive(format?.duration)
  const start = number(format?.start_time) ?? 0
  if (stated === null || start < LATE_SECONDS) return stated
  const isEnd = streams.some((stream) => Math.abs((taggedEnd(stream) ?? Infinity) - stated) < LATE_SECONDS)
  return isEnd ? positive(`${stated - start}`) : stated
}

/** The file's own values would include the other programs, which may be longer or on another clock. */
function extent(streams: readonly ProbeStream[]): { durationSeconds: number | null; startSeconds: number | null } {
  const starts = streams.flatMap(({ start_time }) => number(start_time) ?? [])
  if (starts.length === 0) return { durationSeconds: null, startSeconds: null }
  const begin = Math.min(...starts)
  const ends = streams.flatMap(({ start_time, duration }) => {
    const length = positive(duration)
    return length === null ? [] : [(number(start_time) ?? begin) + length]
  })
  return { durationSeconds: ends.length === 0 ? null : Math.max(...ends) - begin, startSeconds: begin }
}

function withName(stream: ProbeStream, unnamed: UnnamedAudio): ProbeStream {
  const name = unnamed.get(identifier(stream) ?? -1)
  return name === undefined ? stream : { ...stream, codec_type: 'audio', codec_name: name, channels: 0 }
}

/** What ffmpeg's `0:V:0` is. */
function isFirstVideo(stream: ProbeStream): boolean {
  return stream.codec_type === 'video' && stream.disposition?.['attached_pic'] !== 1
}

function isCover(stream: ProbeStream): boolean {
  return stream.disposition?.['attached_pic'] === 1 || stream.disposition?.['timed_thumbnails'] === 1
}

function hasSize(stream: ProbeStream): boolean {
  return (stream.width ?? 0) > 0 && (stream.height ?? 0) > 0
}

function readVideo(stream: ProbeStream, formats: readonly string[]): VideoStream {
  const fieldOrder = fieldOrders.find((order) => order === stream.field_order) ?? 'unknown'
  const coded = {
    codec: stream.codec_name ?? 'unknown',
    width: stream.width ?? 0,
    height: stream.height ?? 0,
    sar: rational(stream.sample_aspect_ratio, ':') ?? ratio(1, 1),
    ...frameRate(stream, fieldOrder, formats),
    fieldOrder,
    // ffprobe's decoders of VP8 and VP9 do not know the second video that holds the transparency.
    pixelFormat: stream.tags?.['alpha_mode'] === '1' ? 'yuva420p' : (stream.pix_fmt ?? 'unknown'),
  }
  return {
    index: stream.index ?? 0,
    id: identifier(stream),
    ...coded,
    ...pictureLines(coded, formats),
    rotation: rotation(stream),
    ...(isMirrored(stream) ? { mirrored: true } : {}),
    commonFrameRate: null,
    scan: null,
    colorRange: nonEmpty(stream.color_range),
    colorSpace: nonEmpty(stream.color_space),
    colorTransfer: nonEmpty(stream.color_transfer),
    colorPrimaries: nonEmpty(stream.color_primaries),
    masteringDisplay: null,
    contentLight: null,
    dynamicMetadata: false,
    ...dolbyVisionAlone(stream),
    closedCaptions: stream.closed_captions === 1,
    captionChannels: [],
    captionLanguages: {},
    severalCaptionMessages: false,
    activeFormat: false,
    startSeconds: number(stream.start_time),
    durationSeconds: streamDuration(stream),
  }
}

function frameRate(
  stream: ProbeStream,
  fieldOrder: VideoStream['fieldOrder'],
  formats: readonly string[],
): Pick<VideoStream, 'frameRate' | 'variableFrameRate' | 'rateEvidence' | 'countsPictures' | 'lastPictureIsBrief'> {
  const rate = containerRate(stream, fieldOrder, formats)
  const grid = rational(stream.r_frame_rate, '/')
  const times = grid === null ? 1 : rate.frameRate === null ? Infinity : toNumber(grid) / toNumber(rate.frameRate)
  const isBrief = times > BRIEF_FROM && !formats.includes('mov')
  return isBrief && rate.countsPictures !== true ? { ...rate, lastPictureIsBrief: true } : rate
}

/**
 * The average rate counts the frames. The nominal rate is the container's time grid. If the two differ by rounding
 * only, the nominal rate is exact. If it is twice the average of interlaced video, it counts fields.
 */
function containerRate(
  stream: ProbeStream,
  fieldOrder: VideoStream['fieldOrder'],
  formats: readonly string[],
): Pick<VideoStream, 'frameRate' | 'variableFrameRate' | 'rateEvidence' | 'countsPictures'> {
  const stated = rational(stream.avg_frame_rate, '/')
  const grid = rational(stream.r_frame_rate, '/')
  if (formats.some((format) => ELEMENTARY.has(format))) return elementaryRate(stream, stated, grid)
  const average = believed(stated)
  const nominal = believed(grid)
  if (average === null) return { frameRate: nominal ?? stated, variableFrameRate: false, rateEvidence: 'grid' }
  const measured = formats.some((format) => STATED_RATE.has(format)) ? { rateEvidence: 'header' as const } : {}
  if (nominal !== null && distance(nominal, average) <= VARIABLE_FROM)
    return { frameRate: nominal, variableFrameRate: false, ...measured }
  const fields = grid !== null && distance(grid, { num: average.num * 2, den: average.den }) <= VARIABLE_FROM
  const isConstant = grid === null || (fields && fieldOrder !== 'progressive')
  return { frameRate: average, variableFrameRate: !isConstant, ...measured }
}

/**
 * The rate of the headers, by which ffmpeg places the frames. If no camera has it, the clock is not believed. Some
 * versions of ffprobe state the demuxer's default as the average, and ticks, two for each frame, as the nominal rate.
 */
function elementaryRate(
  stream: ProbeStream,
  average: Rational | null,
  nominal: Rational | null,
): Pick<VideoStream, 'frameRate' | 'variableFrameRate' | 'countsPictures'> {
  const counts = stream.codec_name === 'h264' || stream.codec_name === 'mpeg1video'
  const ticks = counts && average !== null && nominal !== null && distance(nominal, average) > 0
  const rate = nominal === null ? average : ticks ? ratio(nominal.num, nominal.den * 2) : nominal
  if (rate !== null && believed(rate) === null)
    return { frameRate: null, variableFrameRate: false, countsPictures: true }
  return { frameRate: rate, variableFrameRate: false }
}

/** For raw DV one ffprobe version reports 60000 frames per second, another 25. */
function believed(rate: Rational | null): Rational | null {
  return rate !== null && toNumber(rate) > MAX_BELIEVED ? null : rate
}

/**
 * Profiles of Dolby Vision that may have a base layer without any other meaning; in the others it is HDR10, HLG or SDR
 * (Dolby Vision Profiles and Levels, tables 1 and 2).
 */
const LONE_PROFILES = [5, 10, 20]

function dolbyVisionAlone({ side_data_list: list = [] }: ProbeStream): Pick<VideoStream, 'dolbyVisionAlone'> {
  const { dv_profile: profile, dv_bl_signal_compatibility_id: base } = list.find((data) => data.dv_profile) ?? {}
  return profile !== undefined && LONE_PROFILES.includes(profile) && base === 0 ? { dolbyVisionAlone: profile } : {}
}

/** ffprobe counts counter-clockwise, like the display matrix. The result counts clockwise. */
function rotation(stream: ProbeStream): VideoStream['rotation'] {
  const matrix = stream.side_data_list?.find((data) => data.rotation !== undefined)
  const turn = Math.round(-Number(matrix?.rotation ?? 0) / 90)
  const quarters = Number.isFinite(turn) ? ((turn % 4) + 4) % 4 : 0
  return ([0, 90, 180, 270] as const)[quarters as 0 | 1 | 2 | 3]
}

/** The matrix is printed as three lines of three numbers, each line after its number. */
function isMirrored(stream: ProbeStream): boolean {
  const text = stream.side_data_list?.find(({ displaymatrix }) => displaymatrix !== undefined)?.displaymatrix ?? ''
  const [a = 1, b = 0, , c = 0, d = 1] = [
    ...text
      .slice(0, 300)
      .replaceAll(/^[0-9a-f]+:/gm, '')
      .matchAll(/-?\d+/g),
  ].map(Number)
  return a * d - b * c < 0
}

/** Also of the audio_type of ISO_639_language_descriptor, and of supplementary_audio_descriptor. */
const PURPOSES: Readonly<Record<string, AudioPurpose>> = {
  visual_impaired: 'audio_description',
  descriptions: 'audio_description',
  hearing_impaired: 'hearing_impaired',
  clean_effects: 'clean_effects',
  comment: 'commentary',
  dub: 'dub',
}

function audioPurpose({ disposition }: ProbeStream): { purpose?: AudioPurpose } {
  const trait = Object.keys(PURPOSES).find((name) => disposition?.[name] === 1)
  return trait === undefined ? {} : { purpose: PURPOSES[trait]! }
}

/** ffprobe's names of the profiles of AAC. */
const highEfficiency: Readonly<Record<string, 'sbr' | 'ps'>> = { 'HE-AAC': 'sbr', 'HE-AACv2': 'ps' }

/**
 * Matroska has no place for a layout. Its PCM is in the order of WAVE, so what its writers had is found by the number of
 * channels. Other containers that state none, such as MXF, may hold anything.
 */
const MATROSKA_LAYOUTS: Readonly<Record<number, string>> = {
  3: '2.1',
  4: '4.0',
  5: '5.0',
  6: '5.1',
  7: '6.1',
  8: '7.1',
}

function channelLayout(
  { codec_name: codec, channel_layout: layout, channels = 0 }: ProbeStream,
  formats: string[],
): string | null {
  // The decoder makes one up: SMPTE ST 302 has none.
  if (codec === 's302m' && channels > 2) return null
  return nonEmpty(layout) ?? (formats.includes('matroska') ? (MATROSKA_LAYOUTS[channels] ?? null) : null)
}

function readAudio(stream: ProbeStream, position: number, formats: string[]): AudioStream {
  return {
    index: stream.index ?? 0,
    id: identifier(stream),
    number: position,
    codec: stream.codec_name ?? 'unknown',
    channels: stream.channels ?? 0,
    channelLayout: channelLayout(stream, formats),
    sampleRate: positive(stream.sample_rate) ?? 0,
    ...(positive(stream.bit_rate) === null ? {} : { bitrateKbps: Math.ceil(positive(stream.bit_rate)! / 1000) }),
    language: stream.tags?.['language'] ?? null,
    ...audioPurpose(stream),
    dialnorm: null,
    downmixLevels: null,
    loudness: [],
    ...(highEfficiency[stream.profile ?? ''] === undefined ? {} : { highEfficiency: highEfficiency[stream.profile!] }),
    startSeconds: number(stream.start_time),
    durationSeconds: streamDuration(stream),
  }
}

const DISPOSITIONS: readonly StreamDisposition[] = ['forced', 'hearing_impaired']

function readOther(stream: ProbeStream, audioNumber: number, isPicture: boolean): OtherStream {
  const dispositions = DISPOSITIONS.filter((trait) => stream.disposition?.[trait] === 1)
  const start = number(stream.start_time)
  return {
    index: stream.index ?? 0,
    id: identifier(stream),
    type:
      isCover(stream) || (stream.codec_type === 'video' && isPicture) ? 'cover art' : (stream.codec_type ?? 'unknown'),
    codec: stream.codec_name ?? stream.codec_tag_string ?? 'unknown',
    language: stream.tags?.['language'] ?? null,
    ...(audioNumber === 0 ? {} : { audioNumber }),
    ...(dispositions.length === 0 ? {} : { dispositions }),
    ...(start === null ? {} : { startSeconds: start }),
  }
}

function identifier({ id }: ProbeStream): number | null {
  return id !== undefined && /^0x[0-9a-f]{1,8}$/i.test(id) ? Number(id) : null
}

function nonEmpty(text: string | undefined): string | null {
  return text === undefined || text === 'unknown' || text === 'unspecified' || text === 'reserved' ? null : text
}

function number(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '')
  return Number.isFinite(value) ? value : null
}

/**
 * Matroska has no field for a stream's duration. Its writers add a statistics tag, which ffmpeg counts from 0: it is
 * the time at which the stream ends.
 */
function streamDuration(stream: ProbeStream): number | null {
  const end = taggedEnd(stream)
  const tagged = end === null ? null : positive(`${end - Math.max(0, number(stream.start_time) ?? 0)}`)
  return positive(stream.duration) ?? tagged
}

/** As Matroska's tags state it. */
function taggedEnd({ tags }: ProbeStream): number | null {
  const [, hours, minutes, seconds] = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(tags?.['DURATION'] ?? '') ?? []
  return seconds === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

function positive(text: string | undefined): number | null {
  const value = number(text)
  return value !== null && value > 0 ? value : null
}

function rational(text: string | undefined, separator: string): Rational | null {
  const [num, den] = (text ?? '').split(separator).map(Number)
  const usable =
    num !== undefined &&
    den !== undefined &&
    Number.isSafeInteger(num) &&
    Number.isSafeInteger(den) &&
    num > 0 &&
    den > 0
  return usable ? ratio(num, den) : null
}
