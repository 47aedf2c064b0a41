// In charge of: the commands of one CEA-708 service (ANSI/CTA-708-E 8) and the text in its eight windows.
// Not in charge of: packets and blocks (captionDecoder.ts), one window (window708.ts).
import type { TextBlock, ScreenChange } from './captionScreen.ts'
import { Window708, type WindowShape } from './window708.ts'

/** G2 (table 8). `extendedCharacter708` handles undefined codes. */
const G2: Record<number, string> = {
  0x20: ' ',
  0x21: '\u00a0',
  0x25: '…',
  0x2a: 'Š',
  0x2c: 'Œ',
  0x30: '█',
  0x31: '‘',
  0x32: '’',
  0x33: '“',
  0x34: '”',
  0x35: '•',
  0x39: '™',
  0x3a: 'š',
  0x3c: 'œ',
  0x3d: '℠',
  0x3f: 'Ÿ',
  0x76: '⅛',
  0x77: '⅜',
  0x78: '⅝',
  0x79: '⅞',
  0x7a: '│',
  0x7b: '┐',
  0x7c: '└',
  0x7d: '─',
  0x7e: '┘',
  0x7f: '┌',
}

/** 0x20 to 0x7f and 0xa0 to 0xff: ASCII, except that 0x7f is a musical note, and ISO 8859-1. */
function character708(code: number): string {
  return code === 0x7f ? '♪' : String.fromCodePoint(code)
}

/** The character after EXT1. G3 has one character, the icon for captions. 7.1.9: an unknown code is an underscore. */
function extendedCharacter708(code: number): string {
  return G2[code] ?? (code === 0xa0 ? '[CC]' : '_')
}

const WINDOWS = 8
/** Size of a service's input buffer (8.10.5.12): a delay ends once it is full. */
const MAX_DELAYED = 128

const C1 = {
  clear: 0x88,
  display: 0x89,
  hide: 0x8a,
  toggle: 0x8b,
  delete: 0x8c,
  delay: 0x8d,
  delayCancel: 0x8e,
  reset: 0x8f,
  penLocation: 0x92,
  windowAttributes: 0x97,
  defineWindow: 0x98,
} as const

/** Number of bytes after each command from 0x80 on, one digit per command (table 11). */
const PARAMETERS = '00000000111111002320000466666666'

export class Service708 {
  #windows: (Window708 | null)[] = Array.from({ length: WINDOWS }, () => null)
  #current = -1
  #change: ScreenChange | null = null
  #waiting: number[] = []
  /** Seconds at which the current delay ends; null = none. */
  #until: number | null = null

  /** Reads one block. Commands do not cross the end of a block. */
  push(bytes: readonly number[], time: number): void {
    if (this.#until === null) this.#run(bytes, time)
    else {
      this.#waiting.push(...bytes)
      if (this.#waiting.length >= MAX_DELAYED || bytes.includes(C1.delayCancel) || bytes.includes(C1.reset))
        this.#resume(time)
    }
  }

  /** The screen at `time` and its kind of change since the last call; null = unchanged. */
  takeChange(time: number): { blocks: TextBlock[]; change: ScreenChange } | null {
    if (this.#until !== null && time >= this.#until) this.#resume(time)
    const change = this.#change
    this.#change = null
    return change === null ? null : { change, blocks: this.#windows.flatMap((window) => window?.block ?? []) }
  }

  #resume(time: number): void {
    this.#until = null
    this.#run(this.#waiting.splice(0), time)
  }

  #run(bytes: readonly number[], time: number): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#until !== null) {
        this.#waiting.push(...bytes.slice(at))
        return
      }
      at += this.#step(bytes, at, time)
    }
  }

  /** Executes one command or character and returns its length in bytes. */
  #step(bytes: readonly number[], at: number, time: number): number {
    const code = bytes[at]!
    if (code >= 0x20 && (code < 0x80 || code >= 0xa0)) {
      this.#write(character708(code))
      return 1
    }
    if (code === 0x10) return this.#extended(bytes, at)
    if (code < 0x20) {
      this.#control(code, bytes, at)
      return code < 0x10 ? 1 : code < 0x18 ? 2 : 3
    }
    const length = Number(PARAMETERS[code - 0x80])
    const parameters = bytes.slice(at + 1, at + 1 + length)
    if (parameters.length === length) this.#command(code, parameters, time)
    return 1 + length
  }

  /** EXT1 and a code of an extended set. C2 and C3 are reserved for later editions and skipped (7.1.6, 7.1.7). */
  #extended(bytes: readonly number[], at: number): number {
    const code = bytes[at + 1]
    if (code === undefined) return 1
    if (code < 0x20) return 2 + (code >> 3)
    if (code >= 0x80 && code < 0xa0) return code < 0x88 ? 6 : code < 0x90 ? 7 : 3 + ((bytes[at + 2] ?? 0) & 0x3f)
    this.#write(extendedCharacter708(code))
    return 2
  }

  #control(code: number, bytes: readonly number[], at: number): void {
    const window = this.#window
    if (window === null) return
    // P16: a 16-bit character.
    if (code === 0x18) this.#write(String.fromCharCode(((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0x20)))
    if (code === 0x08) window.backspace()
    if (code === 0x0c) window.clear()
    if (code === 0x0c) window.home()
    if (code === 0x0e) window.eraseRow()
    const lost = code === 0x0d ? window.carriageReturn() : code === 0x0c || code === 0x0e
    if (window.visible && (lost || code === 0x08)) this.#markChanged(lost ? 'cut' : 'grow')
  }

  #command(code: number, parameters: readonly number[], time: number): void {
    if (code < C1.clear) {
      this.#current = code & 7
      return
    }
    if (code >= C1.defineWindow) {
      this.#define(code & 7, parameters)
      return
    }
    if (code <= C1.delete) {
      for (let id = 0; id < WINDOWS; id += 1) if (((parameters[0]! >> id) & 1) === 1) this.#changeWindow(code, id)
      return
    }
    if (code === C1.delay) this.#until = time + parameters[0]! / 10
    else if (code === C1.reset) {
      this.#windows = this.#windows.map(() => null)
      this.#current = -1
      this.#markChanged('cut')
    } else if (code === C1.penLocation) this.#window?.moveTo(parameters[0]! & 15, parameters[1]! & 63)
    else if (code === C1.windowAttributes && this.#window !== null) {
      this.#window.justify = parameters[2]! & 3
      if (this.#window.visible) this.#markChanged('grow')
    }
  }

  #changeWindow(code: number, id: number): void {
    const window = this.#windows[id]
    if (window === null || window === undefined) return
    const [wasVisible, wasEmpty] = [window.visible, window.isEmpty]
    if (code === C1.clear) window.clear()
    else if (code === C1.display) window.visible = true
    else if (code === C1.hide) window.visible = false
    else if (code === C1.toggle) window.visible = !wasVisible
    else {
      this.#windows[id] = null
      if (this.#current === id) this.#current = -1
    }
    const goes = wasVisible && code !== C1.display
    if (!wasEmpty && (goes || wasVisible !== window.visible)) this.#markChanged('cut')
  }

  #define(id: number, parameters: readonly number[]): void {
    const [flags, vertical, horizontal, anchorAndRows] = parameters as [number, number, number, number]
    const shape: WindowShape = {
      visible: (flags & 0x20) !== 0,
      relative: (vertical & 0x80) !== 0,
      vertical: vertical & 0x7f,
      horizontal,
      anchor: Math.min(anchorAndRows >> 4, 8),
      rows: Math.min((anchorAndRows & 15) + 1, 15),
    }
    const window = this.#windows[id]
    this.#current = id
    if (window === null || window === undefined) this.#windows[id] = new Window708(shape)
    else {
      const touched = !window.isEmpty && (window.visible || shape.visible)
      window.reshape(shape)
      if (touched) this.#markChanged('cut')
    }
  }

  get #window(): Window708 | null {
    return this.#windows[this.#current] ?? null
  }

  #write(character: string): void {
    const window = this.#window
    if (window === null) return
    const lost = window.write(character)
    if (window.visible) this.#markChanged(lost ? 'cut' : 'grow')
  }

  #markChanged(change: ScreenChange): void {
    if (this.#change !== 'cut') this.#change = change
  }
}
