// In charge of: caption_service_descriptor (ATSC A/65, 6.9.2): the language of each caption channel of a programme.
// Not in charge of: finding the program map (transcoder/analysis/captionLanguages.ts).
import { readDescriptors, type ProgramMap } from './programTables.ts'

const TAG = 0x86
const SERVICE_BYTES = 6

/**
 * ISO 639-2 by `CC1`, `CC3`, `SERVICE1`…, from the descriptors of the map and of its video. Damaged entries are
 * skipped.
 */
export function captionLanguages(map: ProgramMap, videoPid: number): Record<string, string> {
  const video = map.streams.find(({ pid }) => pid === videoPid)
  const found: Record<string, string> = {}
  for (const loop of [map.descriptors, video?.descriptors ?? new Uint8Array()])
    for (const { tag, body } of readDescriptors(loop)) if (tag === TAG) readCaptionServices(body, found)
  return found
}

function readCaptionServices(body: Uint8Array, found: Record<string, string>): void {
  const count = (body[0] ?? 0) & 31
  for (let service = 0; service < count; service += 1) {
    const entry = body.subarray(1 + service * SERVICE_BYTES, 1 + (service + 1) * SERVICE_BYTES)
    if (entry.length < SERVICE_BYTES) return
    const language = String.fromCodePoint(...entry.subarray(0, 3)).toLowerCase()
    if (!/^[a-z]{3}$/.test(language) || language === 'und') continue
    // digital_cc: a service number follows. Otherwise the field of line 21, and the entry describes its first channel.
    const isDigital = (entry[3]! & 0x80) !== 0
    const number = entry[3]! & 0x3f
    if (isDigital && number > 0) found[`SERVICE${number}`] = language
    if (!isDigital) found[(entry[3]! & 1) === 0 ? 'CC1' : 'CC3'] = language
  }
}
