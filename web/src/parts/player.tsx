// In charge of: looking at results: which one, its rendition and captions. Nothing is loaded before somebody asks.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PublicOutput } from '#contract/status.ts'
import { playables, type Playable } from '../playable.ts'
import type { Stream } from '../stream.ts'
import { Icon } from './icon.tsx'
import { Notice } from './notice.tsx'

export function Player({ outputs }: { outputs: readonly PublicOutput[] }) {
  const found = playables(outputs)
  const [chosen, setChosen] = useState(0)
  const [open, setOpen] = useState(false)
  const playable = found[chosen] ?? found[0]
  if (!playable) return null
  return (
    <section class="card" aria-labelledby="result">
      <h2 id="result">Result</h2>
      {found.length > 1 ? (
        <div class="filters">
          <label>
            <span>Play</span>
            <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {found.map(({ label, url }, index) => (
                <option key={url} value={index}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
      ) : null}
      {open ? (
        <Screen key={playable.url.replace(/^.*\/o\/[^/]+/, '')} playable={playable} />
      ) : (
        <div class="screen">
          <button type="button" class="primary" onClick={() => setOpen(true)}>
            <Icon name="play" /> Play {playable.label}
          </button>
        </div>
      )}
    </section>
  )
}

/** Its key is the place of the file: the signature in an address changes with every reading of the job. */
function Screen({ playable }: { playable: Playable }) {
  const video = useRef<HTMLVideoElement>(null)
  const [stream, setStream] = useState<Stream | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const [first] = useState(playable)

  useEffect(() => {
    const element = video.current
    if (!element) return
    element.focus()
    const start = () => element.play().catch(() => undefined)
    if (first.kind === 'file') {
      element.src = first.url
      void start()
      return
    }
    let gone = false
    let opened: Stream | null = null
    import('../stream.ts')
      .then(({ openStream }) => openStream(element, first, setFailure))
      .then((made) => {
        opened = made
        if (gone) return made.destroy()
        setStream(made)
        return start()
      })
      .catch((error: unknown) => setFailure(error instanceof Error ? error.message : String(error)))
    return () => {
      gone = true
      void opened?.destroy()
    }
  }, [first])

  return (
    <>
      <div class="screen">
        {/* Captions are those of the file itself. */}
        <video
          ref={video}
          controls
          playsInline
          tabIndex={0}
          aria-label={`Player: ${first.label}`}
          onError={() => setFailure('This browser cannot play this file; download it and use another player.')}
        />
      </div>
      {failure ? <Notice kind="error">{failure}</Notice> : null}
      {stream ? <Choices stream={stream} /> : null}
    </>
  )
}

function Choices({ stream }: { stream: Stream }) {
  return (
    <div class="filters">
      {stream.renditions.length > 1 ? (
        <Choice
          label="Rendition"
          none="As the connection allows"
          of={stream.renditions}
          onChoose={(id) => stream.chooseRendition(id)}
        />
      ) : null}
      {stream.captions.length > 0 ? (
        <Choice label="Captions" none="None" of={stream.captions} onChoose={(id) => stream.chooseCaptions(id)} />
      ) : null}
    </div>
  )
}

interface ChoiceProps {
  label: string
  none: string
  of: readonly { id: string; label: string }[]
  onChoose: (id: string | null) => void
}

function Choice({ label: name, none, of, onChoose }: ChoiceProps) {
  return (
    <label>
      <span>{name}</span>
      <select onChange={(event) => onChoose(event.currentTarget.value || null)}>
        <option value="">{none}</option>
        {of.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}
