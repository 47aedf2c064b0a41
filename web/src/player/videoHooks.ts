// In charge of: the state of a player that the browser has: of the video element, of the pointer, of full screen.
// Not in charge of: the controls (player.tsx).
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** The controls disappear that long after the last movement, during playback. */
const IDLE_MS = 2500

const NOTHING = {
  at: 0,
  duration: 0,
  loaded: 0,
  playing: false,
  ended: false,
  waiting: false,
  muted: false,
  volume: 1,
}
const CHANGES = [
  'timeupdate',
  'seeking',
  'seeked',
  'durationchange',
  'progress',
  'play',
  'pause',
  'playing',
  'waiting',
  'canplay',
  'ended',
  'volumechange',
  'loadeddata',
]

/** The element's own state, read again at each of its events. */
export function useVideo(video: RefObject<HTMLVideoElement | null>) {
  const [state, setState] = useState(NOTHING)
  useEffect(() => {
    const element = video.current
    if (!element) return
    const read = (event: Event): void => {
      const { buffered, currentTime: at, duration, paused, ended, muted, volume, readyState } = element
      const near = Array.from({ length: buffered.length }, (_, index) => index).find(
        (index) => buffered.start(index) <= at + 0.5 && buffered.end(index) >= at,
      )
      setState({
        at,
        duration: Number.isFinite(duration) ? duration : 0,
        loaded: near === undefined ? 0 : buffered.end(near),
        playing: !paused && !ended,
        ended,
        waiting: event.type === 'waiting' || (event.type === 'seeking' && readyState < 3),
        muted: muted || volume === 0,
        volume,
      })
    }
    for (const change of CHANGES) element.addEventListener(change, read)
    return () => {
      for (const change of CHANGES) element.removeEventListener(change, read)
    }
  }, [video])
  return state
}

/** Whether there was no movement for a while, so that the controls can be hidden. */
export function useIdle(frame: RefObject<HTMLDivElement | null>, playing: boolean): boolean {
  const [idle, setIdle] = useState(false)
  useEffect(() => {
    const element = frame.current
    if (!element) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const stir = (): void => {
      setIdle(false)
      clearTimeout(timer)
      if (playing) timer = setTimeout(() => setIdle(true), IDLE_MS)
    }
    stir()
    const signs = ['pointermove', 'pointerdown', 'keydown', 'focusin'] as const
    for (const sign of signs) element.addEventListener(sign, stir)
    return () => {
      clearTimeout(timer)
      for (const sign of signs) element.removeEventListener(sign, stir)
    }
  }, [frame, playing])
  return idle
}

/** iPhones allow only a video element in full screen. */
type OldVideo = HTMLVideoElement & { webkitEnterFullscreen?: () => void }

export function useFullscreen(frame: RefObject<HTMLDivElement | null>): { on: boolean; toggle: () => void } {
  const [on, setOn] = useState(false)
  useEffect(() => {
    const look = (): void => setOn(document.fullscreenElement !== null && document.fullscreenElement === frame.current)
    document.addEventListener('fullscreenchange', look)
    return () => document.removeEventListener('fullscreenchange', look)
  }, [frame])
  const toggle = (): void => {
    const element = frame.current
    if (!element) return
    if (document.fullscreenElement) void document.exitFullscreen()
    else if (document.fullscreenEnabled) void element.requestFullscreen().catch(() => undefined)
    else element.querySelector<OldVideo>('video')?.webkitEnterFullscreen?.()
  }
  return { on, toggle }
}
