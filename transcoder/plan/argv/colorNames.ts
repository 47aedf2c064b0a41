// In charge of: how ffmpeg's filters and encoders spell ffprobe's names of colours, wherever they differ.
// Not in charge of: which colours (color.ts).

/** zscale's name of SMPTE 240M has a typing error in 5.1 and none in 7.0; both take the number (ITU-T H.273 table 4). */
const zscaleMatrices: Record<string, string> = { smpte240m: '7' }
/** swscale knows fewer names; BT.470BG, SMPTE 170M and BT.601 are one matrix. */
const swscaleMatrices: Record<string, string> = {
  bt470bg: 'bt601',
  smpte170m: 'bt601',
  bt2020nc: 'bt2020',
  bt2020c: 'bt2020',
}
/** `-color_trc` calls the curves of BT.470 by their gammas; every other name is ffprobe's. */
const encoderTransfers: Record<string, string> = { bt470m: 'gamma22', bt470bg: 'gamma28' }

export const zscaleMatrix = (name: string): string => zscaleMatrices[name] ?? name
export const swscaleMatrix = (name: string): string => swscaleMatrices[name] ?? name
export const encoderTransfer = (name: string): string => encoderTransfers[name] ?? name
