// Readers of a stranger's text take time in proportion to the text, where the Worker or the transcoder reads it in its own
// thread: they are given texts that are made to cost time, each in several lengths, and the processor time may grow by 2.5 a
// doubling.
import { expect, test } from 'vitest'
import { webvttFiles } from '../../../transcoder/manifests/webvtt/webvttSegments.ts'
import { parseFfprobe } from '../../../transcoder/plan/model/ffprobeJson.ts'
import type { FfprobeJson } from '../../../transcoder/plan/model/probeOutput.ts'
import { fileNameFromDisposition, safeContentType } from '../../../worker/http/fileNames.ts'
import { RequestError } from '../../../worker/http/requestError.ts'
import { openHlsPresentation } from '../../../worker/taskApi/hlsSource/hlsPresentation.ts'
import { PlaylistError } from '../../../worker/taskApi/hlsSource/playlistError.ts'
import { parseMultipart } from '../../../worker/uploads/multipartForm.ts'
import { uploadMetadata } from '../../../worker/uploads/tus/tusHeaders.ts'

const KIB = 2 ** 10
const MIB = 2 ** 20

interface Reader {
  /** Of a text: what the reader may get, or enough to see how it grows. */
  bytes: number
  read: (text: string) => unknown
  /** What a text begins and ends with, so that the reader gets as far as to what is repeated. */
  frames: readonly (readonly [head: string, tail: string])[]
  /** What is repeated, alone and in pairs, with `¦` in between. `№` is a number that counts. */
  pumps: string
  /** Pairs of what is opened so often, and closed so often. */
  nests?: readonly (readonly [open: string, close: string])[]
  /** Texts in which one half is multiplied by the other. */
  crosses?: readonly ((bytes: number) => string)[]
}

const repeated = (pump: string, bytes: number): string => {
  if (!pump.includes('№')) return pump.repeat(Math.ceil(bytes / pump.length))
  const count = Math.ceil(bytes / (pump.length + 5))
  return Array.from({ length: count }, (_, at) => pump.replaceAll('№', String(at))).join('')
}

function* textsOf({
  frames,
  nests = [],
  crosses = [],
  ...reader
}: Reader): Generator<[string, (bytes: number) => string]> {
  const pumps = reader.pumps.split('¦')
  for (const [head, tail] of frames) {
    for (const one of pumps)
      for (const other of ['', ...pumps])
        if (one !== other) yield [head + one + other, (bytes) => head + repeated(one + other, bytes) + tail]
    // The first half is never ended by the second.
    for (const one of pumps)
      yield [`${head}${one} …`, (bytes) => head + repeated(one, bytes / 2) + repeated(' ', bytes / 2) + tail]
    for (const [open, close] of nests) {
      yield [`${head}${open}${close}`, (bytes) => head + repeated(open, bytes / 2) + repeated(close, bytes / 2) + tail]
      yield [`${head}${open}`, (bytes) => head + repeated(open, bytes) + tail]
    }
  }
  for (const [at, cross] of crosses.entries()) yield [`cross product ${at}`, cross]
}

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('')
const utf8 = new TextEncoder()

async function hls(text: string): Promise<unknown> {
  const address = new URL(`https://a.example/${'x'.repeat(4000)}/m.m3u8`)
  const { description } = await openHlsPresentation(address, {}, async () => new Response(text))
  return JSON.stringify(description)
}

async function form(text: string): Promise<unknown> {
  const parser = parseMultipart('multipart/form-data; boundary=b')
  const bytes = utf8.encode(text)
  for (let at = 0; at < bytes.length; at += 4096) parser.push(bytes.subarray(at, at + 4096))
  return parser.push(null)
}

const stream = (more: object) =>
  JSON.stringify({ codec_type: 'video', codec_name: 'mjpeg', width: 1, height: 1, ...more })
const listOf = (text: string, bytes: number, most = Infinity): string =>
  Array.from({ length: Math.min(most, Math.ceil(bytes / (text.length + 1))) }, (_, at) =>
    text.replaceAll('№', String(at)),
  ).join(',')

const READERS: Readonly<Record<string, Reader>> = {
  'HLS playlist': {
    bytes: 256 * KIB,
    read: hls,
    frames: [
      ['#EXTM3U\n#EXT-X-ENDLIST\n', '\n'],
      ['#EXTM3U\n', '#EXT-X-STREAM-INF:BANDWIDTH=1\nx\n'],
    ],
    pumps: `#EXTINF:1,\n№.ts\n¦#EXT-X-KEY:METHOD=AES-128,URI="k№"\n¦#EXT-X-MAP:URI="m№"\n¦#EXT-X-BYTERANGE:1@№\n¦#EXT-X-MEDIA:¦A¦=¦"¦,¦A=B,¦#¦ ¦\n¦#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="u№"\n¦#EXT-X-STREAM-INF:BANDWIDTH=№\nv№\n¦#EXT-X-DISCONTINUITY\n`,
    crosses: [
      // One key and one map of 16 kB for every segment; lines of attributes.
      (bytes) =>
        `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,IV=0x1,URI="${'k'.repeat(Math.min(16_000, bytes / 16))}"\n#EXT-X-MAP:URI="${'m'.repeat(Math.min(16_000, bytes / 16))}"\n${repeated('#EXTINF:1,\n№.ts\n', bytes)}#EXT-X-ENDLIST`,
      (bytes) =>
        `#EXTM3U\n${lines(Math.ceil(bytes / 16_000), () => `#EXT-X-MEDIA:${'A'.repeat(15_900)}\n`)}#EXT-X-STREAM-INF:BANDWIDTH=1\nx`,
    ],
  },
  'form (MIME)': {
    bytes: MIB,
    read: form,
    frames: [
      ['--b\r\n', '\r\n--b--'],
      ['--b\r\nContent-Disposition: form-data; name=x; filename=y\r\n\r\n', '\r\n--b--'],
      ['--b', '\r\n'],
    ],
    pumps: ` ¦\r¦\r\n¦\r\n--¦\r\n--b¦-¦a¦\t¦\r\n--b\r\nContent-Disposition: form-data; name=x\r\n\r\n¦A: b\r\n`,
  },
  'MIME headers': {
    bytes: 16 * KIB,
    read: (text) => [fileNameFromDisposition(text), safeContentType(text)],
    frames: [
      ['', ''],
      ['form-data; filename="', '"'],
      ["form-data; filename*=utf-8'", "'x"],
    ],
    pumps: `;¦ ¦filename¦=¦"¦\\¦'¦a¦; filename="¦; filename*=utf-8'¦/`,
  },
  'tus metadata': {
    bytes: 4 * KIB,
    read: (text) => uploadMetadata(new Headers({ 'upload-metadata': text.replaceAll(/[\r\n]/g, '') })),
    frames: [
      ['', ''],
      ['filename ', ''],
    ],
    pumps: `a¦ ¦,¦YQ==¦=¦k№ YQ==,¦/¦+`,
  },
  'WebVTT segments': {
    bytes: 256 * KIB,
    read: (text) => {
      const cues = text.split('\n').map((line) => ({ start: 0, end: Number(line), text: 'a', settings: '' }))
      const intervals = Array.from({ length: cues.length }, (_, start) => ({ start: start * 1000, duration: 1000 }))
      return webvttFiles({ cues }, intervals, 0, 16 * MIB)
    },
    frames: [['', '']],
    pumps: `1\n¦100000\n¦№\n`,
  },
  'JSON of ffprobe': {
    bytes: MIB,
    read: (text) => parseFfprobe(JSON.parse(text) as FfprobeJson, null),
    frames: [],
    pumps: '',
    crosses: [
      // ffmpeg has at most 1000 streams.
      (bytes) =>
        `{"streams":[${listOf(stream({ index: '№', nb_frames: '1' }), bytes / 40, 1000)}],"format":{"format_name":"matroska,webm"}}`,
      (bytes) =>
        `{"streams":[${listOf('{"codec_type":"audio","codec_name":"aac","channels":2}', bytes / 40, 1000)}],"format":{"format_name":"mpegts"}}`,
      (bytes) =>
        `{"streams":[${listOf(stream({ index: 7 }), bytes / 40, 1000)}],"programs":[${listOf('{"program_num":1,"streams":[{"index":1}]}', bytes / 2)}],"format":{"format_name":"mpegts"}}`,
      (bytes) =>
        `{"streams":[{"codec_type":"video","width":1,"height":1,"side_data_list":[{"displaymatrix":"${'0: 1 '.repeat(bytes / 6)}"}],"tags":{"DURATION":"${'1'.repeat(bytes / 4)}"}}]}`,
    ],
  },
}

/** A time below this is that of the text itself. */
const NOTHING_MS = 60
const MOST_GROWTH = 2.5
const RUNS = 3

/** Milliseconds of processor time; the best of some runs. What the reader refuses is read, too. */
async function cost(read: Reader['read'], text: string, runs = RUNS): Promise<number> {
  let best = Infinity
  for (let run = 0; run < runs; run++) {
    const before = process.cpuUsage()
    try {
      await read(text)
    } catch (error) {
      const isRefusal = [RequestError, PlaylistError].some((kind) => error instanceof kind)
      if (!isRefusal && !(error instanceof SyntaxError)) throw error
    }
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}

/** By how much twice the text costs more: of two doublings the smaller, so that a pause of the machine or of V8 is none. */
async function growth({ bytes, read }: Reader, text: (bytes: number) => string): Promise<number> {
  if ((await cost(read, text(bytes), 1)) < NOTHING_MS) return 1
  const [half, whole] = [await cost(read, text(bytes / 2)), await cost(read, text(bytes))]
  if (whole < NOTHING_MS || whole / half <= MOST_GROWTH) return whole / half
  const next =
    whole < 1000 ? (await cost(read, text(bytes * 2), 2)) / whole : half / (await cost(read, text(bytes / 4)))
  return Math.min(whole / half, next)
}

async function tooCostly(reader: Reader): Promise<string[]> {
  const found: string[] = []
  for (const [name, text] of textsOf(reader)) {
    const factor = await growth(reader, text)
    if (factor > MOST_GROWTH) found.push(`${JSON.stringify(name)}: ${factor.toFixed(1)}`)
  }
  return found
}

test.each(Object.entries(READERS))('%s', { timeout: 20 * 60_000 }, async (_name, reader) => {
  expect(await tooCostly(reader)).toEqual([])
})

test('a reader that looks back at every sign is found', async () => {
  const read = (text: string) => text.split('').filter((sign, at) => sign === '<' && !text.includes('>', at)).length
  expect(await tooCostly({ bytes: 128 * KIB, read, frames: [['', '']], pumps: '<¦a' })).not.toEqual([])
})
