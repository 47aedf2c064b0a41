// In charge of: the seek bar: the playback position, the buffered part, and a preview image at the pointer.
import { useEffect, useRef, useState } from 'preact/hooks'
import { loadStoryboard, tileAt, type Tile } from './storyboard.ts'
import { spokenTime, timecode } from './time.ts'

interface SeekProps {
  at: number
  /** Seconds; 0 = unknown. */
  duration: number
  /** End of the buffered part, in seconds. */
  loaded: number
  storyboard: string | null
  onSeek: (seconds: number) => void
}

/** Width of the preview in pixels; smaller than the image if the player is narrow. */
const WIDEST = 176

export function Seek({ at, duration, loaded, storyboard, onSeek }: SeekProps) {
  const line = useRef<HTMLDivElement>(null)
  const [tiles, setTiles] = useState<readonly Tile[]>([])
  /** Position of the pointer in seconds. */
  const [pointed, setPointed] = useState<number | null>(null)
  const wanted = useRef(false)

  // The signature in the address changes with each poll of the job; the images stay the same.
  const place = storyboard?.replace(/\/o\/[^/]+\//, '/o/') ?? null
  useEffect(() => {
    setTiles([])
    wanted.current = false
  }, [place])
  const prepare = (): void => {
    if (storyboard === null || wanted.current) return
    wanted.current = true
    void loadStoryboard(storyboard, AbortSignal.timeout(30_000)).then(setTiles)
  }
  const point = (event: PointerEvent): void => {
    const box = line.current?.getBoundingClientRect()
    if (!box || duration === 0) return
    prepare()
    setPointed(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * duration)
  }
  const part = (seconds: number): string => String(duration > 0 ? Math.min(1, seconds / duration) : 0)
  return (
    <div
      class="player-seek"
      ref={line}
      style={{ '--at': part(at), '--loaded': part(loaded), '--pointed': part(pointed ?? 0) }}
      onPointerMove={point}
      onPointerLeave={() => setPointed(null)}
    >
      <div class="player-line" aria-hidden="true" />
      <input
        type="range"
        aria-label="Seek"
        min={0}
        max={duration}
        step="any"
        value={at}
        disabled={duration === 0}
        aria-valuetext={`${spokenTime(at)} of ${spokenTime(duration)}`}
        onInput={(event) => {
          const seconds = Number(event.currentTarget.value)
          prepare()
          onSeek(seconds)
        }}
        onKeyDown={(event) => {
          const step = { ArrowLeft: -5, ArrowDown: -5, ArrowRight: 5, ArrowUp: 5, PageUp: 30, PageDown: -30 }[event.key]
          if (step === undefined) return
          event.preventDefault()
          event.stopPropagation()
          onSeek(Math.min(duration, Math.max(0, at + step)))
        }}
      />
      {pointed === null ? null : <Preview tile={tileAt(tiles, pointed)} seconds={pointed} />}
    </div>
  )
}

function Preview({ tile, seconds }: { tile: Tile | null; seconds: number }) {
  const scale = tile ? Math.min(1, WIDEST / Math.max(tile.width, tile.height)) : 1
  return (
    <div class="player-preview" aria-hidden="true">
      {tile ? (
        <div
          class="player-tile"
          style={{
            width: `${tile.width}px`,
            height: `${tile.height}px`,
            backgroundImage: `url(${JSON.stringify(tile.url)})`,
            backgroundPosition: `-${tile.x}px -${tile.y}px`,
            zoom: String(scale),
          }}
        />
      ) : null}
      <span>{timecode(seconds)}</span>
    </div>
  )
}
