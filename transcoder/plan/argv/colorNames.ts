// In charge of: how ffmpeg's filters and encoders spell colour names, where they differ from ffprobe's spelling.
// Not in charge of: choosing colours (color.ts).

/** zscale misspells SMPTE 240M in 5.1 and spells it correctly in 7.0. Both accept the number (ITU-T H.273 table 4). */
const zscaleMatrices: Record<string, string> = { smpte240m: '7' }
/** swscale knows fewer names. BT.470BG, SMPTE 170M and BT.601 have the same matrix. */
const swscaleMatrices: Record<string, string> = {
  bt470bg: 'bt601',
  smpte170m: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
}
/** `-color_trc` names the curves of BT.470 by their gamma. All other names are the same as in ffprobe. */
const encoderTransfers: Record<string, string> = { bt470m: 'gamma22', bt470bg: 'gamma28' }

export const zscaleMatrix = (name: string): string => zscaleMatrices[name] ?? name
export const swscaleMatrix = (name: string): string => swscaleMatrices[name] ?? name
export const encoderTransfer = (name: string): string => encoderTransfers[name] ?? name
