// In charge of: what a file is that cannot be used as a source, by its first bytes (ffprobe names only what it reads):
// its kind in a few words, and what to do.
// Not in charge of: containers that are read (ffmpeg/inputAllowlist.ts).
/* oxlint-disable no-control-regex -- signatures of binary files */
import { TaskError } from '#contract/taskError.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { children } from '../formats/mp4/boxReader.ts'

interface FileKind {
  /** With its article. */
  name: string
  advice: string
}

/** Bytes that are needed: a whole header, enough to tell text from noise, and all of an MP4 that is only an index. */
const KIND_BYTES = 16_384

const STILL = 'A still image is not transcoded: bring the video itself, or make a video from the images first.'
const HEIC = `${STILL} The video of a Live Photo is a MOV file of its own.`
const WEBP = 'No version of ffmpeg that is supported reads it: export the animation as GIF, APNG, WebM or MP4.'
const AUDIO = 'Convert it without loss, for example: ffmpeg -i FILE out.flac'
const REMUX = 'Put its streams into a container that is accepted, for example: ffmpeg -i FILE -map 0 -c copy out.mkv'
const CONVERT = 'Convert it to a common format first, for example H.264 and AAC in MP4.'
const UNPACK = 'Unpack it, and bring the media file that is inside.'
const DOCUMENT = 'Bring the media file itself.'
const CAPTIONS = 'Name it in captions, and bring the media file as the source.'
const ADDRESS =
  'The address leads to a page or a message, not to the media: use the address of the file itself, and check that it needs no sign-in.'

/** The first that matches. One character is one byte. */
const KINDS: readonly [RegExp, name: string, advice: string][] = [
  [/^.{4}ftyp(hei[cxms]|hev[cmsx]|mif1|msf1)/s, 'a HEIC or HEIF image', HEIC],
  [/^.{4}ftypavif/s, 'an AVIF image', STILL],
  [/^.{4}ftypcrx /s, 'a camera’s raw photo (CR3)', STILL],
  [/^\x89PNG\r\n/, 'a PNG image', `${STILL} An animated PNG is accepted.`],
  [/^\xff\xd8\xff/, 'a JPEG image', STILL],
  [/^RIFF.{4}WEBPVP8X[^]{4}[\x02\x03\x12\x13\x22\x23\x32\x33]/s, 'an animated WebP', WEBP],
  [/^RIFF.{4}WEBP/s, 'a WebP image', STILL],
  [/^(II\*\0|MM\0\*)/, 'a TIFF image or a camera’s raw photo', STILL],
  [/^8BPS\0/, 'a Photoshop document', STILL],
  [/^BM.{8}\x36\0{3}/s, 'a BMP image', STILL],
  [/^(\0\0\0\x0cJXL |\xff\x0a)/, 'a JPEG XL image', STILL],
  [/^wvpk/, 'WavPack audio', AUDIO],
  [/^MAC /, 'Monkey’s Audio', AUDIO],
  [/^TTA1/, 'TTA audio', AUDIO],
  [/^(MPCK|MP\+)/, 'Musepack audio', AUDIO],
  [/^(DSD |FRM8)/, 'DSD audio', AUDIO],
  [/^MThd/, 'a MIDI file, which has notes and no sound', 'Record it as WAV or FLAC first.'],
  [/^AV[\x01\x02].\x55/s, 'a PVA recording', 'Convert it, for example: ffmpeg -i FILE -map 0 -c copy out.ts'],
  [
    /^\xb7\xd8\0\x20\x37\x49\xda\x11/,
    'a WTV recording of Windows Media Center',
    'Convert it, for example: ffmpeg -i FILE -map 0:v -map 0:a -c copy out.ts',
  ],
  [/^(\.RMF|\.ra\xfd)/, 'RealMedia', CONVERT],
  [/^[FCZ]WS[\x01-\x32]/, 'a Flash film (SWF)', CONVERT],
  [/^DKIF/, 'IVF', REMUX],
  [/^YUV4MPEG2 /, 'uncompressed video (Y4M)', 'Convert it, for example: ffmpeg -i FILE -c:v ffv1 out.mkv'],
  [/^nut\/multimedia container/, 'a NUT file', REMUX],
  [/^(BIKi|BIKf|KB2)/, 'Bink video', CONVERT],
  [/^%PDF-/, 'a PDF document', DOCUMENT],
  [/^PK(\x03\x04|\x05\x06)/, 'a ZIP archive, or a document of an office program', UNPACK],
  [/^(Rar!\x1a|7z\xbc\xaf\x27\x1c|\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd)/, 'an archive', UNPACK],
  [/^.{257}ustar/s, 'a tar archive', UNPACK],
  [/^(\x7fELF|MZ|\xcf\xfa\xed\xfe|#!\/)/, 'a program', DOCUMENT],
  [/^SQLite format 3\0/, 'a database', DOCUMENT],
  [/^(\xef\xbb\xbf)?WEBVTT/, 'a caption file (WebVTT)', CAPTIONS],
  [/^(\xef\xbb\xbf)?\s*\d+\r?\n\d\d:\d\d:\d\d,\d{3} -->/, 'a caption file (SubRip)', CAPTIONS],
  [/^(\xef\xbb\xbf)?\[Script Info\]/, 'a caption file (SubStation Alpha)', CAPTIONS],
  [
    /^(\xef\xbb\xbf)?#EXTM3U/,
    'a playlist',
    'For HLS, name the address of the playlist as the input; an uploaded playlist has no segments.',
  ],
  [/^(\xef\xbb\xbf)?ffconcat version/, 'a list of files for ffmpeg', 'Name the files in inputs, in their order.'],
  [/^(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|script)/i, 'a web page', ADDRESS],
  [/^(\xef\xbb\xbf)?\s*<(\?xml|MPD|SmoothStreamingMedia|tt[ :>])/, 'XML text', ADDRESS],
  [/^(\xef\xbb\xbf)?\s*[{[]\s*["{[}\]]/, 'JSON text', ADDRESS],
  // ASCII, or the bytes of UTF-8 beyond it.
  [/^[\t\r\n\x20-\x7e\x80-\xff]+$/, 'text', DOCUMENT],
]

/** `bytes`: the first ones of the file. null = not known, or a kind that is accepted. */
export function fileKind(bytes: Uint8Array): FileKind | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const [, name, advice] = KINDS.find(([pattern]) => pattern.test(text)) ?? []
  return name === undefined || advice === undefined ? null : { name, advice }
}

/** Brands of MP4 files that are images, although ffmpeg opens some of them as video (ISO/IEC 23008-12, AVIF). */
export function requireNoImage(brand: string | undefined): void {
  const kind = brand === undefined ? null : fileKind(Buffer.from(`\0\0\0\x18ftyp${brand}`, 'latin1'))
  if (kind !== null) throw refused(kind)
}

/** What the error of ffprobe means for this source; an error that says something else stays as it is. */
export async function explainRefusal(
  source: Pick<LoopbackServer, 'open' | 'readRange'>,
  error: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof TaskError) || (error.code !== 'source_not_media' && error.code !== 'source_damaged'))
    return error
  const { size } = await source.open()
  const head = await source.readRange(0, KIND_BYTES, signal)
  const kind = fileKind(head)
  if (kind !== null) return refused(kind, error)
  const boxes = size !== null && size <= head.length ? topLevelBoxes(head) : []
  if (!boxes.includes('moov') || boxes.includes('mdat')) return error
  const message =
    'The source contains no media data: it is an MP4 or MOV with an index ("moov") alone. Bring the whole file.'
  return new TaskError('source_damaged', message, { cause: error })
}

function refused({ name, advice }: FileKind, cause?: TaskError): TaskError {
  return new TaskError('source_not_media', `The source is ${name}, which is not accepted. ${advice}`, { cause })
}

/** Names of the top-level boxes of a small MP4, in order; empty if the bytes are no MP4. */
function topLevelBoxes(bytes: Uint8Array): string[] {
  try {
    return [...children(bytes, 0)].map(({ name }) => name)
  } catch {
    return []
  }
}
