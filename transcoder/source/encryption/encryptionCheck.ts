// In charge of: rejecting a source if streams that the job uses are encrypted, before anything is decoded: decoding
// encrypted data appears to succeed.
// Not in charge of: detecting encryption in each container (the other files here), keys of HLS playlists (the Worker).
import { open } from 'node:fs/promises'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { matroskaTracks } from './matroskaProtection.ts'
import { mp4Tracks } from './mp4Protection.ts'
import { scrambledTracks } from './tsScrambling.ts'
import { bufferedReads, type ReadRange, type TrackProtection } from './trackProtection.ts'
import { TaskError } from '#contract/taskError.ts'
import type { LoopbackServer } from '../loopbackServer.ts'
import type { MediaInfo } from '../../plan/model/mediaInfo.ts'
import { needsVideo } from '../../plan/streams/unusedVideo.ts'
import { usedAudioStreams } from '../../plan/streams/outputTiming.ts'
import { viewOf } from '../../formats/mp4/boxReader.ts'

/** GUIDs as stored in the file: the first three fields are little-endian. */
const CONTENT_ENCRYPTION = 'fbb3112223bdd211b4b700a0c955fc6e'
const STREAM_PROPERTIES = '9107dcb7b7a9cf118ee600c00c205365'
const VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b'
const AUDIO = '409e69f84d5bcf11a8fd00805f5c442b'
const HEADER_BYTES = 30
const MAX_HEADER = 4 * 1024 * 1024
/** An object that is not larger has no licence: an object header and four empty fields take 40 bytes. */
const EMPTY_BYTES = 40

async function asfTracks(read: ReadRange): Promise<TrackProtection[]> {
  const head = await read(0, HEADER_BYTES)
  if (head.length < HEADER_BYTES) return []
  const size = Math.min(Number(viewOf(head).getBigUint64(16, true)), MAX_HEADER)
  const header = Buffer.from(await read(0, size))
  const tracks: TrackProtection[] = []
  let isProtected = false
  for (let at = HEADER_BYTES; at + 40 <= header.length;) {
    const name = header.toString('hex', at, at + 16)
    const bytes = Number(header.readBigUInt64LE(at + 16))
    if (bytes < 24) break
    if (name === CONTENT_ENCRYPTION && bytes > EMPTY_BYTES) isProtected = true
    if (name === STREAM_PROPERTIES) {
      const type = header.toString('hex', at + 24, at + 40)
      tracks.push({ kind: type === VIDEO ? 'video' : type === AUDIO ? 'audio' : 'other', protection: null, pid: null })
    }
    at += bytes
  }
  return isProtected ? tracks.map((track) => ({ ...track, protection: 'Windows Media DRM' })) : tracks
}

/** Enough of a transport stream for its tables and packets of every stream: at 20 Mb/s nearly a second. */
const TS_BYTES = 2 * 1024 * 1024

/**
 * `media`: the result of ffprobe; null = it recognised nothing. Tracks that no output uses may be encrypted.
 * @throws TaskError source_unsupported
 */
export async function requireUnencrypted(
  loopback: Pick<LoopbackServer, 'readRange'>,
  spec: JobSpec,
  media: MediaInfo | null,
  signal: AbortSignal,
): Promise<void> {
  const tracks = await readTracks((first, bytes) => loopback.readRange(first, bytes, signal), spec.program)
  if (tracks.every(({ protection }) => protection === null)) return
  const encrypted = usedTracks(tracks, spec, media).filter(({ track }) => track.protection !== null)
  if (encrypted.length > 0) throw encryptionError(encrypted)
}

/** The same for a part of a source that is on disk. */
export async function requireUnencryptedFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    const tracks = await readTracks(async (first, bytes) => {
      const buffer = Buffer.alloc(bytes)
      const { bytesRead } = await file.read(buffer, 0, bytes, first)
      return buffer.subarray(0, bytesRead)
    }, null)
    const encrypted = tracks.filter(({ protection }) => protection !== null)
    if (encrypted.length > 0) throw encryptionError(encrypted.map((track) => ({ name: track.kind, track })))
  } finally {
    await file.close()
  }
}

async function readTracks(read: ReadRange, program: number | null): Promise<TrackProtection[]> {
  const head = Buffer.from(await read(0, 16))
  if (head.length < 16) return []
  if (head.readUInt32BE(0) === 0x1a45dfa3) return matroskaTracks(bufferedReads(read))
  if (head.readUInt32BE(0) === 0x3026b275) return asfTracks(bufferedReads(read))
  if (/^(ftyp|styp|moov|mdat|free|skip|wide|pnot)$/.test(head.toString('latin1', 4, 8)))
    return mp4Tracks(bufferedReads(read))
  // M2TS has four bytes in front of each packet.
  return head[0] === 0x47 || head[4] === 0x47 ? scrambledTracks(await read(0, TS_BYTES), program) : []
}

interface UsedTrack {
  name: string
  track: TrackProtection
}

function usedTracks(tracks: readonly TrackProtection[], spec: JobSpec, media: MediaInfo | null): UsedTrack[] {
  const pictures = tracks.filter(({ kind }) => kind === 'video')
  const audioTracks = tracks.filter(({ kind }) => kind === 'audio')
  const byPid = (id: number | null | undefined) => tracks.find(({ pid }) => pid !== null && pid === id)
  const video = needsVideo(spec) ? (byPid(media?.video?.id) ?? pictures[0]) : undefined
  const used = video === undefined ? [] : [{ name: 'video', track: video }]
  for (const number of usedAudioStreams(spec)) {
    const track = byPid(media?.audio.find((stream) => stream.number === number)?.id) ?? audioTracks[number - 1]
    if (track !== undefined) used.push({ name: `audio stream ${number}`, track })
  }
  return used
}

function encryptionError(encrypted: readonly UsedTrack[]): TaskError {
  const names = encrypted.map(({ name }) => name)
  const protection = [...new Set(encrypted.map(({ track }) => track.protection))].join(', ')
  const message = `The source is encrypted (${names.join(', ')}; ${protection}): only unencrypted sources can be transcoded.`
  return new TaskError('source_unsupported', message, { details: { streams: names, protection } })
}
