// In charge of: checking the last bytes of a transport stream for errors near its end: how its streams end, and, if one
// is truncated within a packet, which errors a decoder reports for that packet.
// Not in charge of: which errors remain (cutEnd.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../attempt.ts'
import { inputFlags } from '../../ffmpeg/inputAllowlist.ts'
import { runFfmpeg } from '../../ffmpeg/run.ts'
import { ENDING_BYTES, lastPackets, transportPackets, type LastPacket } from './streamEnding.ts'
import { isDecodingStart, readDamage } from './ffmpegMessages.ts'
import type { DamageMonitor } from './damageMonitor.ts'

type Place = Pick<Attempt, 'engine' | 'loopback' | 'workspace' | 'controller'>

/** Passes its findings to `damage`: none if the source cannot be read in ranges. */
export async function lookAtEnd(place: Place, damage: DamageMonitor): Promise<void> {
  if (!damage.isInDoubt) return
  const { loopback, controller } = place
  const { size } = await loopback.open()
  const bytes = await loopback.readRange(Math.max(0, (size ?? 0) - ENDING_BYTES), ENDING_BYTES, controller.signal)
  const ending = lastPackets(bytes)
  damage.endsWith(ending)
  for (const pid of damage.doubtfulPids()) {
    const last = ending.get(pid)
    if (last !== undefined) ending.set(pid, { ...last, ...(await explanation(place, damage, bytes, pid, last.index)) })
  }
  damage.endsWith(ending)
}

/** The errors that appear with the truncated packet, and not without it. Empty if that could not be determined. */
async function explanation(
  place: Place,
  damage: DamageMonitor,
  bytes: Uint8Array,
  pid: number,
  from: number,
): Promise<Pick<LastPacket, 'explains'>> {
  const packets = transportPackets(bytes)
  const without = packets.filter((packet, index) => packet.pid !== pid || index < from)
  const all = await decode(place, damage, pid, packets)
  const others = all === null ? null : await decode(place, damage, pid, without)
  if (all === null || others === null) return {}
  const more = (kind: keyof Counts) => all[kind] > others[kind]
  return { explains: { packet: more('packet'), frame: more('frame'), message: more('message') } }
}

interface Counts {
  packet: number
  frame: number
  message: number
}

/** Errors of one stream; null if no frame of it can be decoded. */
async function decode(
  { engine, workspace, controller }: Place,
  { reading }: DamageMonitor,
  pid: number,
  packets: readonly { bytes: Uint8Array }[],
): Promise<Counts | null> {
  const file = join(workspace.out, `ending-${pid}.ts`)
  await writeFile(file, Buffer.concat(packets.map(({ bytes }) => bytes)), { mode: 0o640 })
  const url = `file:${file}`
  const errors: Counts = { packet: 0, frame: 0, message: 0 }
  let isDecoding = false
  const onLine = (line: string): boolean => {
    isDecoding ||= isDecodingStart(line)
    const found = isDecoding ? readDamage(line, reading, true) : null
    if (found !== null && found.kind !== 'silence') errors[found.kind] += 1
    return true
  }
  const args = [
    ...['-nostdin', '-hide_banner', '-loglevel', 'repeat+level+info', '-nostats', '-progress', 'pipe:1'],
    // One thread: with several, the reported errors of a frame would depend on the timing of the others.
    ...['-threads', '1', ...inputFlags(url), '-i', url],
    ...['-map', `0:i:${pid}`, '-fps_mode', 'passthrough', '-f', 'null', '-'],
  ]
  const purpose = 'decode the end of the source again'
  const { code, progress } = await runFfmpeg(engine, args, {
    cwd: workspace.cwd,
    purpose,
    signal: controller.signal,
    onLine,
  })
  await rm(file, { force: true })
  controller.signal.throwIfAborted()
  return code === 0 && (progress?.frame ?? 0) > 0 ? errors : null
}
