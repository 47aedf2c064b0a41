// Every reader of a stranger's text takes time in proportion to the text: it is given texts that are made to cost time, each in
// several lengths, and the processor time may grow by 2.5 a doubling.
import { expect, test } from 'vitest'
import type { CaptionFormat } from '#contract/captions.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { MAX_BODY_BYTES } from '#contract/limits.ts'
import { CaptionError } from '../../../transcoder/formats/captions/captionError.ts'
import { readCaptions } from '../../../transcoder/formats/captions/readCaptions.ts'
import { parseWebvtt } from '../../../transcoder/manifests/webvtt/webvttParser.ts'
import { webvttFiles } from '../../../transcoder/manifests/webvtt/webvttSegments.ts'
import { parseFfprobe } from '../../../transcoder/plan/model/ffprobeJson.ts'
import type { FfprobeJson } from '../../../transcoder/plan/model/probeOutput.ts'
import { fileNameFromDisposition, safeContentType } from '../../../worker/http/fileNames.ts'
import { RequestError } from '../../../worker/http/requestError.ts'
import { readBoundedJson } from '../../../worker/storage/boundedBody.ts'
import { childElements, elementText, parseXml } from '../../../worker/storage/s3/s3Xml.ts'
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

/** Pairs are many: they are shorter. */
const PAIR_SHARE = 1 / 8

function* textsOf({
  frames,
  nests = [],
  crosses = [],
  ...reader
}: Reader): Generator<[name: string, text: (bytes: number) => string, bytes: number]> {
  const { bytes: most } = reader
  const pumps = reader.pumps.split('¦')
  for (const [head, tail] of frames) {
    const framed = (middle: (bytes: number) => string) => (bytes: number) => head + middle(bytes) + tail
    for (const one of pumps) {
      yield [head + one, framed((bytes) => repeated(one, bytes)), most]
      // The first half is never ended by the second.
      yield [`${head}${one} …`, framed((bytes) => repeated(one, bytes / 2) + ' '.repeat(bytes / 2)), most]
      for (const other of pumps)
        if (one !== other)
          yield [head + one + other, framed((bytes) => repeated(one + other, bytes)), most * PAIR_SHARE]
    }
    for (const [open, close] of nests) {
      const halves = (bytes: number) => repeated(open, bytes / 2) + repeated(close, bytes / 2)
      yield [`${head}${open}${close}`, framed(halves), most]
      yield [`${head}${open}`, framed((bytes) => repeated(open, bytes)), most]
    }
  }
  for (const [at, cross] of crosses.entries()) yield [`cross product ${at}`, cross, most]
}

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('')
const utf8 = new TextEncoder()
const captions = (format: CaptionFormat | null) => (text: string) =>
  readCaptions(utf8.encode(text), { format, offsetSeconds: null })
const srtTime = (at: number) =>
  `${String(Math.floor(at / 3600)).padStart(2, '0')}:${new Date(at * 1000).toISOString().slice(14, 19)},000`
const TIMED = '1\n00:00:01,000 --> 00:00:02,000\n'
const VTT_TIMED = '00:01.000 --> 00:02.000\n'
const TT = '<tt xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling">'
const BODY = `${TT}<body><div>`
const tt = (head: string, body: string) => `${TT}<head>${head}</head><body><div>${body}</div></body></tt>`
const MARKUP = `a¦<b>¦</b>¦<1¦.¦:¦<b.¦&amp;¦&¦{\\an8}¦{¦<¦\n¦ ¦<i>x`

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

/** A header of EBU STL, and blocks of its text. */
function stl(text: string): unknown {
  const header = '850STL25.01 00'.padEnd(1024, ' ')
  const bytes = new Uint8Array(1024 + 128 * Math.floor(text.length / 112))
  bytes.set(utf8.encode(header))
  for (let block = 0; 1024 + 128 * block < bytes.length; block++) {
    const of = text.slice(112 * block, 112 * (block + 1))
    const isOpen = of.charCodeAt(0) === 0x2b
    bytes.set([0, block & 0xff, isOpen ? 0 : (block >> 8) & 0xff, isOpen ? 1 : 0xff, 0], 1024 + 128 * block)
    if (isOpen) bytes.set([0, 0], 1024 + 128 * block + 1)
    bytes.set([0, 0, block & 31, 0, 0, 0, 40, 0, 20, 2, 0], 1024 + 128 * block + 5)
    bytes.set(
      Uint8Array.from(of, (sign) => sign.charCodeAt(0)),
      1024 + 128 * block + 16,
    )
  }
  return readCaptions(bytes, { format: null, offsetSeconds: null })
}

const stream = (more: object) =>
  JSON.stringify({ codec_type: 'video', codec_name: 'mjpeg', width: 1, height: 1, ...more })
const listOf = (text: string, bytes: number, most = Infinity): string =>
  Array.from({ length: Math.min(most, Math.ceil(bytes / (text.length + 1))) }, (_, at) =>
    text.replaceAll('№', String(at)),
  ).join(',')

const JOB = '"input":"https://a.example/a","output_path":"a","audioProfiles":[]'
const profile = (members: string) => `{"output":"a№.mp4","width":16,"height":16,"video_bitrate":1${members}}`
const inJob = (members: (bytes: number) => string) => (bytes: number) => `{${JOB},${members(bytes)}}`

const READERS: Readonly<Record<string, Reader>> = {
  'S3 XML': {
    bytes: 128 * KIB,
    read: (text) => {
      const root = parseXml(text)
      return (
        root && [
          elementText(root, 'Error', 'Code'),
          childElements(root, 'Part').map((part) => elementText(part, 'ETag')),
        ]
      )
    },
    frames: [
      ['', ''],
      ['<a>', '</a>'],
      ['<a ', '>'],
      ['<!--', '-->'],
      ['<![CDATA[', ']]>'],
    ],
    pumps: `a¦<¦<a¦<a/>¦<Part><ETag>x</ETag></Part>¦ b="c"¦"¦'¦&amp;¦&¦&#x¦-¦]]¦<!--¦<?¦<a:b>¦/¦=¦>¦\n`,
    nests: [
      ['<a>', '</a>'],
      ['<a:b c="d">', '</b>'],
    ],
  },
  'JSON of stores': {
    bytes: 128 * KIB,
    read: async (text) => readBoundedJson(new Response(text), 8 * MIB),
    frames: [
      ['', ''],
      ['{"a":', '}'],
      ['{"code":"', '"}'],
    ],
    pumps: `[¦{"a":¦"¦\\u0041¦1¦e¦-¦ ¦"a":1,`,
    nests: [
      ['[', ']'],
      ['{"a":', '}'],
    ],
  },
  'HLS playlist': {
    bytes: 128 * KIB,
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
  SubRip: {
    bytes: 128 * KIB,
    read: captions('srt'),
    frames: [
      ['', ''],
      [TIMED, ''],
    ],
    pumps: `${MARKUP}¦${TIMED}¦00:00:01,000 --> ¦-->¦1\n¦\n\n¦0¦<br>`,
    crosses: [
      // Cues that all overlap; long ones over many short ones.
      (bytes) => lines(Math.ceil(bytes / 42), (at) => `${at}\n${srtTime(at)} --> 99:00:00,000\na\n\n`),
      (bytes) =>
        lines(15, () => `1\n00:00:00,000 --> 99:00:00,000\n${'long '.repeat(900)}\n\n`) +
        lines(Math.ceil(bytes / 42), (at) => `${at}\n${srtTime(at)} --> ${srtTime(at + 1)}\na\n\n`),
    ],
  },
  WebVTT: {
    bytes: 128 * KIB,
    read: captions('webvtt'),
    frames: [
      ['WEBVTT\n\n', ''],
      [`WEBVTT\n\n${VTT_TIMED}`, ''],
      ['WEBVTT\n\n00:01.000 --> 00:02.000 ', '\na'],
    ],
    pumps: `${MARKUP}¦${VTT_TIMED}¦-->¦\n\n¦line:1% ¦position:¦%¦NOTE\n¦STYLE\n¦a:b `,
  },
  TTML: {
    bytes: 128 * KIB,
    read: captions('ttml'),
    frames: [
      [`${BODY}<p begin="0s" end="9s">`, '</p></div></body></tt>'],
      [BODY, '</div></body></tt>'],
      [`${TT}<head><styling>`, '</styling></head><body><div><p begin="0s" end="1s" style="s0">x</p></div></body></tt>'],
      ['<tt xmlns="', '"/>'],
    ],
    pumps: `a¦ ¦<br/>¦<span begin="№s" end="1s">b</span>¦<span>¦<p begin="№s" dur="1s">c</p>¦<style xml:id="s№" tts:color="red" style="s0 s1 s2 s3"/>¦<region xml:id="r№"/>¦&amp;¦&¦<![CDATA[¦<!--¦ a№="b"¦<x:y/>¦"¦\n`,
    nests: [
      ['<span>', '</span>'],
      ['<div>', '</div>'],
    ],
    crosses: [
      (bytes) =>
        tt(
          '',
          `<p begin="0s" end="1000s">${'a<br/>'.repeat(bytes / 12)}${lines(Math.min(249, Math.ceil(bytes / 90)), (at) => `<span begin="${at}s" end="${at + 1}s">b</span>`)}</p>`,
        ),
      (bytes) =>
        tt(
          '',
          `<p begin="0s" end="1000s">${'a '.repeat(bytes / 4)}${lines(249, (at) => `<span begin="${at}s" end="${at + 1}s">b</span>`)}</p>`,
        ),
      (bytes) =>
        tt(
          `<styling>${lines(8, (at) => `<style xml:id="s${at}" tts:fontStyle="italic" style="s0 s1 s2 s3 s4 s5 s6 s7"/>`)}</styling>`,
          '<p begin="0s" end="1s" style="s0 s1 s2 s3 s4 s5 s6 s7">x</p>'.repeat(bytes / 61),
        ),
      (bytes) =>
        tt(
          `<styling>${lines(Math.ceil(bytes / 120), (at) => `<style xml:id="s${at}" tts:fontStyle="italic" style="s${at + 1} s${at + 2}"/>`)}</styling>`,
          lines(Math.ceil(bytes / 100), (at) => `<p begin="0s" end="1s" style="s${at}">x</p>`),
        ),
    ],
  },
  SCC: {
    bytes: 128 * KIB,
    read: captions('scc'),
    frames: [
      ['Scenarist_SCC V1.0\n\n', ''],
      ['Scenarist_SCC V1.0\n\n00:00:01:00\t', ''],
    ],
    pumps: `00:00:01:00 9420 c8e5\n¦9420 ¦c8e5 ¦942c ¦9425 ¦94ad ¦942f ¦9429 ¦ ¦\n¦0¦9440 `,
  },
  'EBU STL': {
    bytes: 256 * KIB,
    read: stl,
    frames: [['', '']],
    pumps: `A¦+¦\u008a¦\u0080¦\u0081¦\u00c1¦ ¦\u000d¦\u008f¦é`,
  },
  'WebVTT of ffmpeg': {
    bytes: 256 * KIB,
    read: (text) => parseWebvtt(text, 0, 3600),
    frames: [
      ['WEBVTT\n\n', ''],
      [`WEBVTT\n\n00:01.000 --> 00:02.000\n`, ''],
    ],
    pumps: `a¦\n¦\r¦\r\n¦00:01.000 --> 00:02.000\n¦<b>¦<¦&amp;¦&¦;¦0¦:¦ `,
  },
  'WebVTT segments': {
    bytes: 32 * KIB,
    read: (text) => {
      const cues = text.split('\n').map((line) => ({ start: 0, end: Number(line), text: 'a', settings: '' }))
      const intervals = Array.from({ length: cues.length }, (_, start) => ({ start: start * 1000, duration: 1000 }))
      return webvttFiles({ cues }, intervals, 0, 128 * KIB)
    },
    frames: [['', '']],
    pumps: `1\n¦100000\n¦№\n`,
  },
  'job request': {
    bytes: MAX_BODY_BYTES,
    read: (text) => validateJob(JSON.parse(text), { baseUrl: 'https://b.example' }),
    frames: [],
    pumps: '',
    crosses: [
      inJob((bytes) => `"videoProfiles":[${profile('')}],${listOf('"inpu№":[{}]', bytes)}`),
      inJob((bytes) => `"videoProfiles":[{${listOf('"width№":"x"', bytes)}}]`),
      inJob((bytes) => `"videoProfiles":[${listOf(profile(',"output_name":"a b"'), bytes)}]`),
      inJob((bytes) => `"videoProfiles":[${listOf(profile(`,${listOf('"height№":1', bytes / 16)}`), bytes, 16)}]`),
      inJob((bytes) => `"videoProfiles":[],"stills":[${listOf('{"times":[1,2,3],"name":"a№"}', bytes)}]`),
      inJob((bytes) => `"videoProfiles":[],"metadata":{${listOf('"a№":"b"', bytes)}}`),
      inJob((bytes) => `"videoProfiles":[],"captions":[${listOf('{"input":"/uploads/№","language":"en"}', bytes)}]`),
      inJob((bytes) => `"videoProfiles":[],"inputs":[${listOf('{"input":"https://a.example/№?b=c"}', bytes)}]`),
      inJob((bytes) => `"videoProfiles":[],"__proto__":{${listOf('"__proto__":{}', bytes)}}`),
      inJob((bytes) => `"videoProfiles":[],"logo_url":"http://${'a.'.repeat(bytes / 2)}","preset":"${'№'.repeat(9)}"`),
    ],
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
const NOTHING_MS = 5
const MOST_GROWTH = 2.5

/** Milliseconds of processor time. What the reader refuses is read, too. */
async function cost(read: Reader['read'], text: string): Promise<number> {
  const before = process.cpuUsage()
  try {
    await read(text)
  } catch (error) {
    const isRefusal = [CaptionError, RequestError, PlaylistError].some((kind) => error instanceof kind)
    if (!isRefusal && !(error instanceof SyntaxError)) throw error
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** By how much twice the text costs more, of the best of some runs at a quarter and the whole; 1 where it costs next to nothing. */
async function growth(read: Reader['read'], textOf: (bytes: number) => string, bytes: number): Promise<number> {
  const text = textOf(bytes)
  let whole = await cost(read, text)
  if (whole < NOTHING_MS) return 1
  const shorter = textOf(bytes / 4)
  let quarter = Infinity
  let factor = Infinity
  for (let run = 0; run < 5 && factor > MOST_GROWTH; run++) {
    quarter = Math.min(quarter, await cost(read, shorter))
    whole = Math.min(whole, await cost(read, text))
    factor = whole < NOTHING_MS ? 1 : Math.sqrt(whole / quarter)
  }
  if (factor <= MOST_GROWTH) return factor
  // A machine with much else to do: at a length where that does not matter.
  return Math.sqrt((await cost(read, textOf(bytes * 4))) / whole)
}

interface Growth {
  texts: number
  /** The largest factor of a doubling, and its text. */
  worst: number
  tooCostly: string[]
}

async function growthOf(reader: Reader): Promise<Growth> {
  const found: Growth = { texts: 0, worst: 1, tooCostly: [] }
  for (const [name, text, bytes] of textsOf(reader)) {
    const factor = await growth(reader.read, text, bytes)
    found.texts += 1
    found.worst = Math.max(found.worst, factor)
    if (factor > MOST_GROWTH) found.tooCostly.push(`${JSON.stringify(name)}: ${factor.toFixed(1)}`)
  }
  return found
}

test.each(Object.entries(READERS))('%s', { timeout: 20 * 60_000 }, async (name, reader) => {
  const { texts, worst, tooCostly } = await growthOf(reader)
  console.log(`${name}: ${texts} texts of ${reader.bytes / KIB} KiB, at most ${worst.toFixed(1)} × a doubling`)
  expect(tooCostly).toEqual([])
})

test('a reader that looks back at every sign is found', async () => {
  const read = (text: string) => text.split('').filter((sign, at) => sign === '<' && !text.includes('>', at)).length
  const { tooCostly } = await growthOf({ bytes: 32 * KIB, read, frames: [['', '']], pumps: '<¦a' })
  expect(tooCostly).not.toEqual([])
})
