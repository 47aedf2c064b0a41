// In charge of: malicious files: text that names other files, headers that announce enormous sizes, media that was
// truncated or mutated.
// Not in charge of: the expected results (hostileSources.test.ts).
import { readFile } from 'node:fs/promises'
import { ffmpeg, lavfi } from './media.ts'

export interface Target {
  /** An address that must not be requested. */
  url: string
  /** A file that must not be read. */
  file: string
}

/** List formats that ffmpeg can follow; it must follow none of them. */
export function textInputs({ url, file }: Target): [name: string, text: string][] {
  const segment = (uri: string, more = ''): string =>
    `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:4\n${more}#EXTINF:4,\n${uri}\n#EXT-X-ENDLIST\n`
  return [
    ['HLS to an address', segment(`${url}/a.ts`)],
    ['HLS to a file', segment(`file://${file}`)],
    ['HLS to a plain path', segment(file)],
    ['HLS with a key elsewhere', segment('a.ts', `#EXT-X-KEY:METHOD=AES-128,URI="${url}/key"\n`)],
    ['HLS of concat and subfile', segment(`concat:${file}|subfile,,start,0,end,9,,:${file}`)],
    ['an HLS master', `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${url}/b.m3u8\n`],
    ['ffconcat to a file', `ffconcat version 1.0\nfile '${file}'\n`],
    ['ffconcat to an address', `ffconcat version 1.0\nfile '${url}/c.mp4'\n`],
    [
      'DASH',
      `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><BaseURL>${url}/</BaseURL></Period></MPD>`,
    ],
    ['SDP', `v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n`],
    ['SVG', `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}/d.png"/><image href="file://${file}"/></svg>`],
  ]
}

function box(type: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, body])
}

/** All headers of one box claim `size` bytes. */
function announce(bytes: Buffer, type: string, size: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(size, copy.indexOf(type) - 4)
  return copy
}

/** Endless structures, made from a valid MP4. */
export function inflatedHeaderInputs(mp4: Buffer): [name: string, bytes: Buffer][] {
  const samples = Buffer.from(mp4)
  for (let at = samples.indexOf('stsz'); at !== -1; at = samples.indexOf('stsz', at + 4)) {
    samples.writeUInt32BE(1_000_000_000, at + 12)
  }
  const size = Buffer.from(mp4)
  const entry = size.indexOf('avc1', size.indexOf('stsd'))
  size.writeUInt16BE(65_535, entry + 28)
  size.writeUInt16BE(65_535, entry + 30)
  const reference = Buffer.from(mp4)
  // Flags of the data reference: 1 means that the media is in this file.
  reference[reference.indexOf('url ') + 7] = 0
  let deep: Buffer = Buffer.from(mp4.subarray(0, 64))
  for (let depth = 0; depth < 3000; depth++) deep = box('trak', deep)
  const type = mp4.subarray(0, mp4.readUInt32BE(0))
  return [
    ['an mp4 with a moov of 1 GB', announce(mp4, 'moov', 1_000_000_000)],
    ['an mp4 of 1e9 samples', samples],
    ['an mp4 of 65535 by 65535', size],
    ['an mp4 whose media is elsewhere', reference],
    ['an mp4 of boxes in boxes', Buffer.concat([type, box('moov', deep)])],
    ['an mp4 of 200,000 empty boxes', Buffer.concat([type, ...Array.from({ length: 200_000 }, () => box('trak'))])],
    [
      'an EBML header without end',
      Buffer.concat([Buffer.from('1a45dfa301ffffffffffffff', 'hex'), Buffer.alloc(4096, 0x42)]),
    ],
  ]
}

/** An AVI whose headers and frames all declare 16000 × 16000. */
export async function makeHugeFrameImage(path: string): Promise<Buffer> {
  await ffmpeg([...lavfi('testsrc2=s=64x64:r=5:d=1'), '-pix_fmt', 'yuvj420p', '-c:v', 'mjpeg', path])
  const avi = await readFile(path)
  for (const at of [avi.indexOf('avih') + 40, avi.indexOf('strf') + 12]) {
    avi.writeUInt32LE(16_000, at)
    avi.writeUInt32LE(16_000, at + 4)
  }
  const start = Buffer.from('ffc0001108', 'hex')
  for (let at = avi.indexOf(start); at !== -1; at = avi.indexOf(start, at + 1)) {
    avi.writeUInt16BE(16_000, at + 5)
    avi.writeUInt16BE(16_000, at + 7)
  }
  return avi
}

/** A small pseudo-random generator (0 to 1) with a seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * A copy with 1 to 40 bytes changed, half of them in the first kilobyte; some copies are also truncated or have a part
 * repeated.
 */
export function mutateBytes(bytes: Buffer, next: () => number): Buffer {
  const copy = Buffer.from(bytes)
  const count = 1 + Math.floor(next() * 40)
  for (let n = 0; n < count; n++) {
    const range = next() < 0.5 ? Math.min(1024, copy.length) : copy.length
    copy[Math.floor(next() * range)] = [0, 255, 127, Math.floor(next() * 256)][Math.floor(next() * 4)]!
  }
  const way = next()
  if (way < 0.2) return copy.subarray(0, Math.floor(next() * copy.length))
  if (way > 0.9) return Buffer.concat([copy, copy.subarray(Math.floor(next() * copy.length))])
  return copy
}
