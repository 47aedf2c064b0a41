// In charge of: printing progress: a bar that is redrawn and fits the terminal, or plain lines without a terminal.
// Not in charge of: the text for an upload, a job or a download (progressState.ts).
import { columnsOf, truncate, isUnicode, pad, widthOf } from './terminal.ts'

export interface ProgressState {
  /** The current activity: "Uploading". */
  label: string
  /** 0 to 1; null if it cannot be measured. */
  fraction: number | null
  /** Most important first. What does not fit is left out from the end. */
  facts: readonly string[]
  /** The line without a terminal. Repeated lines are written once. */
  log: string
}

export interface ProgressLine {
  show: (state: ProgressState) => void
  /** Moves the cursor to a new line. */
  end: () => void
}

const LABEL = 18
const BAR = { least: 8, most: 32 }
const GAP = '  '

/** At most `width` columns. */
export function renderProgress({ label, fraction, facts }: ProgressState, width: number, unicode: boolean): string {
  const head = pad(label, LABEL)
  if (fraction === null) return truncate([label, ...facts].join(GAP), width)
  const shown = [...facts]
  const room = (): number => width - widthOf([head, ...shown].join(GAP)) - GAP.length
  while (shown.length > 0 && room() < BAR.least) shown.pop()
  const bar = progressBar(fraction, Math.max(0, Math.min(BAR.most, room())), unicode)
  return truncate([head, bar, ...shown].join(GAP), width)
}

function progressBar(fraction: number, width: number, unicode: boolean): string {
  const full = Math.round(Math.max(0, Math.min(1, fraction)) * width)
  return (unicode ? '█' : '#').repeat(full) + (unicode ? '░' : '.').repeat(width - full)
}

export function progressLine(out: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): ProgressLine {
  let last = ''
  const terminal = columnsOf(out) !== null
  const unicode = isUnicode(env)
  return {
    show(state) {
      // The last column stays empty: some terminals wrap when it is written.
      const text = terminal ? renderProgress(state, (columnsOf(out) ?? 80) - 1, unicode) : state.log
      if (text === last) return
      last = text
      out.write(terminal ? `\r\u001B[2K${text}` : `${text}\n`)
    },
    end() {
      if (terminal && last !== '') out.write('\n')
      last = ''
    },
  }
}
