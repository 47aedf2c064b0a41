// In charge of: one line about transcode and transfer: a bar that is drawn over itself on a terminal, plain lines elsewhere.
import type { WriteStream } from 'node:tty'
import type { PublicStatus } from '#contract/status.ts'

const WIDTH = 24

function progressText(status: PublicStatus, bars: boolean): string {
  const part = (label: string, percent: string, speed: string, unit: string): string => {
    const figure = `${percent.padStart(3)} %`
    const pace = Number(speed) > 0 ? `${Number(speed).toFixed(1)} ${unit}` : ''
    return `${label} ${bars ? `${bar(Number(percent))} ` : ''}${figure} ${pace.padEnd(9)}`
  }
  return [
    part('transcode', status.tcode_progress, status.tcode_speed, 'x'),
    part('transfer', status.xfer_progress, status.xfer_speed, 'MB/s'),
    status.phase,
  ].join('  ')
}

function bar(percent: number): string {
  const full = Math.round((percent / 100) * WIDTH)
  return `[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}]`
}

/** Shows each status that says something new; `end` leaves the cursor on a line of its own. */
export function progressLine(out: NodeJS.WriteStream): { show: (status: PublicStatus) => void; end: () => void } {
  let last = ''
  const tty: WriteStream | null = out.isTTY ? out : null
  return {
    show(status) {
      const text = progressText(status, tty !== null)
      if (text === last) return
      last = text
      if (tty === null) out.write(`${text}\n`)
      else out.write(`\r\u001B[2K${text.slice(0, (tty.columns || 80) - 1)}`)
    },
    end() {
      if (tty !== null && last !== '') out.write('\n')
    },
  }
}
