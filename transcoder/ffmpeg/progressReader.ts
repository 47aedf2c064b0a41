// In charge of: parsing ffmpeg's `-progress` output.
// Not in charge of: the progress of a job (percent, speed over the whole run).

export interface FfmpegProgress {
  /** Seconds of output written so far; it is late by the encoders' look-ahead. */
  outSeconds: number
  frame: number
  /** Multiple of real time; null until known. */
  speed: number | null
  /** Bytes of the FIRST output only; null until known. */
  totalBytes: number | null
  /** True in the last report. */
  end: boolean
}

function number(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '')
  return Number.isFinite(value) && value >= 0 ? value : null
}

/**
 * Accepts text as it arrives, split at any position; calls back once for each complete report.
 * Fields may be `N/A`, absent or negative at the start.
 */
export function progressReader(onReport: (progress: FfmpegProgress) => void): (block: string) => void {
  let partialLine = ''
  let fields = new Map<string, string>()
  return (block) => {
    const lines = (partialLine + block).split('\n')
    // ffmpeg's lines are short: of a longer line only the beginning is kept.
    partialLine = (lines.pop() ?? '').slice(0, 4096)
    for (const line of lines) {
      const at = line.indexOf('=')
      if (at <= 0) continue
      const [key, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()]
      if (key !== 'progress') {
        fields.set(key, value)
        continue
      }
      onReport({
        // out_time_ms is in microseconds as well, despite its name.
        outSeconds: (number(fields.get('out_time_us')) ?? 0) / 1e6,
        frame: number(fields.get('frame')) ?? 0,
        speed: number(fields.get('speed')),
        totalBytes: number(fields.get('total_size')),
        end: value === 'end',
      })
      fields = new Map()
    }
  }
}
