// In charge of: the frames of AMR and AMR-WB as containers store them (3GPP TS 26.101, TS 26.201; RFC 4867, 5.3).

/** Bytes of a frame by its type, with its first byte, which has the type. */
const FRAME_BYTES: Readonly<Record<string, readonly number[]>> = {
  amr_nb: [13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1],
  amr_wb: [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1],
}

/** Whether a packet holds more than its first frame; false for other codecs. */
export function hasSeveralAmrFrames(codec: string, packet: Uint8Array): boolean {
  const [first] = packet
  const bytes = first === undefined ? undefined : FRAME_BYTES[codec]?.[(first >> 3) & 15]
  return bytes !== undefined && packet.length > bytes
}
