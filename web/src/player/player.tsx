// In charge of: the player of the job page and the share page: a poster, and after a press on play, the media with its
// controls: seeking with previews, quality, captions, speed, volume, picture in picture, full screen.
// Not in charge of: the state of the video element (videoHooks.ts), HLS and DASH (stream.ts), which of several sources is played (the page).
import { useEffect, useRef, useState } from 'preact/hooks'
import { Glyph } from './glyph.tsx'
import type { CaptionFile, PlayerMedia, PlayerSource } from './playerMedia.ts'
import { Menu, type Group } from './menu.tsx'
import { Seek } from './seek.tsx'
import type { Stream } from './stream.ts'
import { timecode } from './time.ts'
import { useFullscreen, useIdle, useVideo } from './videoHooks.ts'

interface PlayerProps {
  media: PlayerMedia
  source: PlayerSource
  /** Starts at once: the viewer chose another source of the same media. */
  autoPlay?: boolean
  /** Fills the surrounding box instead of keeping the video's aspect ratio, as in an iframe. */
  fill?: boolean
  /** Second at which playback begins. */
  startAt?: number
  /** Called when the viewer starts playback. */
  onStart?: () => void
  /** Playback failed at this second. Returns true if the page plays another source; then no error is shown. */
  onFailure?: (message: string, at: number) => Promise<boolean>
}

const AUTO = 'auto'
const OFF = 'off'
const SPEEDS = ['0.5', '0.75', '1', '1.25', '1.5', '2']
const CANNOT = 'This browser cannot play this file. Download it and use another player.'

type Phase = 'poster' | 'opening' | 'open' | 'failed'

/** The address of a source without its signature, which changes with each poll of the job. */
const placeOf = ({ url }: PlayerSource): string => url.replace(/^.*\/o\/[^/]+/, '')

/** One source from its poster to its end; another source gets another player. */
export function Player(props: PlayerProps) {
  return <Playback key={`${props.source.kind} ${placeOf(props.source)}`} {...props} />
}

function Playback({ media, source, autoPlay, fill, startAt, onStart, onFailure }: PlayerProps) {
  const frame = useRef<HTMLDivElement>(null)
  const video = useRef<HTMLVideoElement>(null)
  const [first] = useState(source)
  const [byItself] = useState(autoPlay === true)
  const [phase, setPhase] = useState<Phase>('poster')
  const [failure, setFailure] = useState<string | null>(null)
  const stream = useRef<Stream | null>(null)
  const gone = useRef(false)
  const [choices, setChoices] = useState<Stream | null>(null)
  const [selected, setChosen] = useState({ rendition: AUTO, captions: OFF, speed: '1' })
  const [automatic, setAutomatic] = useState<string | null>(null)
  const state = useVideo(video)
  const quiet = useIdle(frame, state.playing)
  const full = useFullscreen(frame)
  const { title, poster, captions: files } = media

  const fail = async (message: string): Promise<void> => {
    const goesOn = await onFailure?.(message, video.current?.currentTime || (startAt ?? 0))
    if (goesOn === true || gone.current) return
    setFailure(message)
    setPhase('failed')
  }
  const open = async (): Promise<void> => {
    const element = video.current
    if (!element || phase === 'opening') return
    onStart?.()
    setFailure(null)
    setPhase('opening')
    try {
      await stream.current?.destroy()
      stream.current = null
      if (first.kind === 'file') element.src = first.url
      else {
        const { openStream } = await import('./stream.ts')
        const opened = await openStream(element, first, {
          onError: (message) => void fail(message),
          onRendition: () => setAutomatic(stream.current?.playing() ?? null),
        })
        if (gone.current) return void opened.destroy()
        stream.current = opened
        setChoices(opened)
        setAutomatic(opened.playing())
      }
      setPhase('open')
      if (startAt) element.currentTime = startAt
      // A browser may demand another press: the button is still shown then.
      await element.play().catch(() => undefined)
    } catch (error) {
      if (!gone.current) await fail(error instanceof Error ? error.message : String(error))
    }
  }
  useEffect(() => {
    if (byItself) void open()
    return () => {
      gone.current = true
      void stream.current?.destroy()
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each source
  }, [])

  const toggle = (): void => {
    const element = video.current
    if (!element) return
    if (phase !== 'open') void open()
    else if (element.paused) void element.play().catch(() => undefined)
    else element.pause()
  }
  const seek = (seconds: number): void => {
    if (video.current && phase === 'open') video.current.currentTime = seconds
  }
  const chooseCaptions = (id: string): void => {
    setChosen((before) => ({ ...before, captions: id }))
    if (choices) choices.chooseCaptions(id === OFF ? null : id)
    else {
      for (const [index, track] of [...(video.current?.textTracks ?? [])].entries()) {
        track.mode = String(index) === id ? 'showing' : 'disabled'
      }
    }
  }
  const tracks =
    choices?.captions ?? (first.kind === 'file' ? files : []).map(({ label }, at) => ({ id: String(at), label }))
  const groups = settingsOf({
    renditions: choices?.renditions ?? [],
    selected,
    automatic,
    onRendition: (id) => {
      setChosen((before) => ({ ...before, rendition: id }))
      choices?.chooseRendition(id === AUTO ? null : id)
    },
    onSpeed: (id) => {
      setChosen((before) => ({ ...before, speed: id }))
      if (video.current) video.current.playbackRate = Number(id)
    },
  })
  const keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || phase !== 'open') return
    const button = event.target instanceof HTMLButtonElement
    const act: Readonly<Record<string, () => void>> = {
      k: toggle,
      ...(button ? {} : { ' ': toggle }),
      m: () => mute(video.current),
      f: full.toggle,
      c: () => chooseCaptions(selected.captions === OFF ? (tracks[0]?.id ?? OFF) : OFF),
      ArrowLeft: () => seek(Math.max(0, state.at - 5)),
      ArrowRight: () => seek(Math.min(state.duration, state.at + 5)),
    }
    const chosenAct = act[event.key]
    if (!chosenAct) return
    event.preventDefault()
    chosenAct()
  }
  const audioOnly = first.audioOnly === true
  const started = phase === 'open'
  const duration = state.duration || media.durationSeconds || 0
  const looks = ['player', phase, audioOnly ? 'audio' : '', fill === true ? 'fill' : '', quiet && started ? 'idle' : '']
  const ratio = media.aspectRatio && media.aspectRatio > 0 ? media.aspectRatio : 16 / 9

  return (
    <div
      class={looks.filter(Boolean).join(' ')}
      ref={frame}
      role="group"
      aria-label={`Player: ${title}`}
      style={{ '--ratio': String(ratio) }}
      onKeyDown={keys}
    >
      {/* Captions are tracks of the stream, or WebVTT files of a single file. */}
      <video
        ref={video}
        aria-label={title}
        {...(poster === null ? {} : { poster })}
        preload="none"
        playsInline
        tabIndex={-1}
        onClick={toggle}
        onError={() => {
          // Shaka reports its own errors with more detail.
          if (first.kind === 'file' && video.current?.hasAttribute('src')) void fail(CANNOT)
        }}
      >
        {first.kind === 'file' ? files.map((file) => <Track key={file.label} file={file} />) : null}
      </video>
      {phase === 'failed' ? (
        <div class="player-failure" role="alert">
          <p>{failure}</p>
          <button type="button" onClick={() => void open()}>
            Try again
          </button>
        </div>
      ) : started ? null : (
        <button
          type="button"
          class="player-start"
          aria-busy={phase === 'opening'}
          aria-label={phase === 'opening' ? `Loading ${first.label}` : `Play ${first.label}`}
          onClick={() => void open()}
        >
          {phase === 'opening' ? <span class="player-wait" /> : <Glyph name="play" />}
        </button>
      )}
      {started && state.waiting ? <span class="player-wait" role="status" aria-label="Loading" /> : null}
      {!started && duration > 0 && phase !== 'failed' ? <span class="player-length">{timecode(duration)}</span> : null}
      {started ? (
        <div class="player-bar">
          <Seek
            at={state.at}
            duration={duration}
            loaded={state.loaded}
            storyboard={audioOnly ? null : media.storyboard}
            onSeek={seek}
          />
          <div class="player-buttons">
            <Press
              name={state.playing ? 'Pause' : state.ended ? 'Play again' : 'Play'}
              icon={state.playing ? 'pause' : state.ended ? 'again' : 'play'}
              keys="k"
              takesFocus={!byItself}
              onPress={toggle}
            />
            <div class="player-volume">
              <Press
                name={state.muted ? 'Unmute' : 'Mute'}
                icon={state.muted ? 'muted' : 'volume'}
                keys="m"
                onPress={() => mute(video.current)}
              />
              <input
                type="range"
                aria-label="Volume"
                min={0}
                max={1}
                step={0.05}
                value={state.muted ? 0 : state.volume}
                style={{ '--at': String(state.muted ? 0 : state.volume) }}
                onKeyDown={(event) => event.stopPropagation()}
                onInput={(event) => {
                  if (!video.current) return
                  video.current.volume = Number(event.currentTarget.value)
                  video.current.muted = video.current.volume === 0
                }}
              />
            </div>
            <span class="player-time">
              {timecode(state.at)} <span>/ {timecode(duration)}</span>
            </span>
            <span class="player-gap" />
            {tracks.length > 0 ? (
              <Menu
                name="Captions"
                icon="captions"
                on={selected.captions !== OFF}
                groups={[
                  {
                    label: 'Captions',
                    selected: selected.captions,
                    items: [{ id: OFF, label: 'Off' }, ...tracks],
                    onChoose: chooseCaptions,
                  },
                ]}
              />
            ) : null}
            <Menu name="Settings" icon="settings" groups={groups} />
            {document.pictureInPictureEnabled && !audioOnly ? (
              <Press name="Picture in picture" icon="pip" onPress={() => void floating(video.current)} />
            ) : null}
            {audioOnly ? null : (
              <Press
                name={full.on ? 'Leave full screen' : 'Full screen'}
                icon={full.on ? 'leave' : 'enter'}
                keys="f"
                onPress={full.toggle}
              />
            )}
          </div>
        </div>
      ) : null}
    </div>
  )
}

function Track({ file }: { file: CaptionFile }) {
  return <track kind="captions" src={file.url} srclang={file.language ?? 'und'} label={file.label} />
}

interface SettingsOf {
  renditions: readonly { id: string; label: string }[]
  selected: { rendition: string; speed: string }
  automatic: string | null
  onRendition: (id: string) => void
  onSpeed: (id: string) => void
}

function settingsOf({ renditions, selected, automatic, onRendition, onSpeed }: SettingsOf): Group[] {
  const auto = selected.rendition === AUTO && automatic !== null ? `Auto (${automatic})` : 'Auto'
  const quality: Group = {
    label: 'Quality',
    selected: selected.rendition,
    items: [{ id: AUTO, label: auto }, ...renditions],
    onChoose: onRendition,
  }
  const speed: Group = {
    label: 'Speed',
    selected: selected.speed,
    items: SPEEDS.map((id) => ({ id, label: id === '1' ? 'Normal' : `${id}×` })),
    onChoose: onSpeed,
  }
  return renditions.length > 1 ? [quality, speed] : [speed]
}

interface PressProps {
  name: string
  icon: Parameters<typeof Glyph>[0]['name']
  keys?: string
  /** Takes the focus when it appears: it replaces the focused start button. */
  takesFocus?: boolean
  onPress: () => void
}

function Press({ name, icon, keys, takesFocus, onPress }: PressProps) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (takesFocus === true) button.current?.focus({ preventScroll: true })
  }, [takesFocus])
  return (
    <button
      type="button"
      ref={button}
      aria-label={name}
      title={keys === undefined ? name : `${name} (${keys})`}
      aria-keyshortcuts={keys}
      onClick={onPress}
    >
      <Glyph name={icon} />
    </button>
  )
}

function mute(video: HTMLVideoElement | null): void {
  if (video) video.muted = !video.muted
}

async function floating(video: HTMLVideoElement | null): Promise<void> {
  const leave = document.pictureInPictureElement !== null
  await (leave ? document.exitPictureInPicture() : video?.requestPictureInPicture())?.catch(() => undefined)
}
