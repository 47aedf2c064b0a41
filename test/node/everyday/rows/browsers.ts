// In charge of: what browsers record (MediaRecorder): made by the real ones while the test runs.
/* oxlint-disable unicorn/no-useless-spread -- a recording is one line, what is special about it another */
import { recorded, type Browser, type Recording } from '../recordings.ts'
import { WHOLE_TABLE, type Row } from '../row.ts'

type Kind = Recording & Pick<Row, 'short' | 'known'>

/** Recorders leave gaps and overlaps, the more the busier the machine is. */
const GAPS = {
  why: 'what moves sound by less than 40 ms is not corrected',
  faults: /^the beep of \S+ s is -?0\.0[0-3]\d s late$/,
}

const webm = (codecs: string): string => `video/webm;codecs=${codecs}`

const CHROMIUM: Record<string, Kind> = {
  'webcam, VP8 and Opus, 30 fps': { name: 'vp8.webm', type: webm('vp8,opus'), rate: 30, seconds: 3.5, short: true },
  'canvas, VP9 without sound, odd size': {
    ...{ name: 'vp9.webm', type: webm('vp9'), rate: 30, seconds: 3 },
    ...{ width: 322, height: 181, audio: false },
  },
  'webcam, AV1 and Opus': { name: 'av1.webm', type: webm('av1,opus'), rate: 15, seconds: 3 },
  'webcam, H.264 in WebM': { name: 'h264.webm', type: webm('h264,opus'), rate: 30, seconds: 3 },
  'webcam, MP4': { name: 'recorded.mp4', type: 'video/mp4', rate: 30, seconds: 3 },
  'webcam, H.264 and AAC in MP4': {
    ...{ name: 'avc.mp4', type: 'video/mp4;codecs=avc1.42E01E,mp4a.40.2', rate: 30, seconds: 3 },
  },
  'recording with a pause, 15 fps': {
    ...{ name: 'pause.webm', type: webm('vp8,opus'), rate: 15, seconds: 4.5, pause: [1.5, 2.5] },
  },
  'slides, 1 fps': { name: 'slides.webm', type: webm('vp8,opus'), rate: 1, seconds: 5 },
  'game, 60 fps': { name: 'game.webm', type: webm('vp8,opus'), rate: 60, seconds: 3 },
  'phone that is turned during the recording': {
    ...{ name: 'turned.webm', type: webm('vp8,opus'), rate: 30, seconds: 4, sizes: [[2, 180, 320]], short: true },
  },
  'window that is resized five times': {
    ...{ name: 'resized.webm', type: webm('vp9,opus'), rate: 15, seconds: 4 },
    // Frames at their own times, on the output's grid.
    known: { why: 'a change is a frame early', faults: /^at \S+ s the shape is|^the beep of/ },
    sizes: [
      ...([
        [0.6, 352, 198],
        [1.2, 240, 180],
        [1.8, 400, 180],
      ] as const),
      ...([
        [2.4, 180, 180],
        [3, 320, 200],
      ] as const),
    ],
  },
}

/** Without sound: where there is no sound card, the clock of its AudioContext does not run. */
const FIREFOX: Record<string, Kind> = {
  'canvas, VP8': { name: 'firefox.webm', type: webm('vp8'), rate: 30, seconds: 3, audio: false },
  'recording with a pause': {
    ...{ name: 'firefox-pause.webm', type: webm('vp8'), rate: 30, seconds: 4, audio: false, pause: [1.5, 2.5] },
  },
  'size that changes': {
    ...{ name: 'firefox-turned.webm', type: webm('vp8'), rate: 30, seconds: 4, audio: false, sizes: [[2, 180, 320]] },
  },
}

function rowsOf(browser: Browser, kinds: Record<string, Kind>): Row[] {
  const taken = Object.entries(kinds).filter(([, { short }]) => WHOLE_TABLE || short === true)
  const recordings = taken.map(([, { known: _known, short: _short, ...recording }]) => recording)
  return taken.map(([kind, { name, known, short }]) => ({
    kind: `${browser}: ${kind}`,
    make: (shop) => recorded(shop, browser, name, recordings),
    known: known ?? GAPS,
    ...(short && { short }),
  }))
}

export const BROWSER_ROWS: readonly Row[] = [...rowsOf('Chromium', CHROMIUM), ...rowsOf('Firefox', FIREFOX)]
