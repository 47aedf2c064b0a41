// In charge of: playing a shared source: the poster until it is started, then the video with its quality and captions. Where
// one source fails the next is tried; where its addresses have expired, it goes on with new ones.
// Not in charge of: HLS and DASH (../player/stream.ts), what there is to play (media.ts).
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SharedMedia } from '#contract/answers.ts'
import { Icon } from '../parts/icon.tsx'
import type { Choice, Stream } from '../player/stream.ts'
import { isEmbedded, isStale, readMedia } from './media.ts'

type Source = SharedMedia['sources'][number]

export function Player({ media: first }: { media: SharedMedia }) {
  const [media, setMedia] = useState(first)
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(0)
  const [from, setFrom] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  const source = media.sources[chosen]
  const files = media.sources.filter(({ kind }) => kind === 'file')

  const recover = async (message: string, at: number): Promise<void> => {
    setFrom(at)
    if (isStale(media)) {
      const fresh = await readMedia().catch(() => null)
      if (fresh) return setMedia(fresh)
    }
    // Another file is another version of the viewer's choice; HLS and DASH are the same one.
    if (source?.kind !== 'file' && chosen + 1 < media.sources.length) return setChosen(chosen + 1)
    setFailure(message)
  }

  if (!source) {
    return (
      <p class="unplayable">
        Browsers cannot play this format. {media.downloads.length > 0 ? 'Download it and use a media player.' : null}
      </p>
    )
  }
  if (!isOpen) {
    return (
      <button type="button" class="screen poster" onClick={() => setOpen(true)}>
        {media.poster_url === null ? null : <img src={media.poster_url} alt="" />}
        <span class="play">
          <Icon name="play" size={isEmbedded ? 36 : 44} />
          <span class="hidden">Play {media.title}</span>
        </span>
      </button>
    )
  }
  return (
    <>
      <Screen
        key={source.url}
        source={source}
        media={media}
        from={from}
        files={files}
        onFail={(message, at) => void recover(message, at)}
        onChoose={(url, at) => {
          setFrom(at)
          setFailure(null)
          setChosen(media.sources.findIndex((each) => each.url === url))
        }}
      />
      {failure === null ? null : (
        <p class="unplayable" role="alert">
          {failure}
        </p>
      )}
    </>
  )
}

interface ScreenProps {
  source: Source
  media: SharedMedia
  /** Seconds. */
  from: number
  files: readonly Source[]
  onFail: (message: string, at: number) => void
  onChoose: (url: string, at: number) => void
}

function Screen({ source, media, from, files, onFail, onChoose }: ScreenProps) {
  const video = useRef<HTMLVideoElement>(null)
  const [stream, setStream] = useState<Stream | null>(null)
  const now = (): number => video.current?.currentTime ?? from
  const fail = (message: string): void => onFail(message, now())

  useEffect(() => {
    const element = video.current
    if (!element) return
    element.focus()
    const start = (): void => {
      if (from > 0) element.currentTime = from
      element.play().catch(() => undefined)
    }
    if (source.kind === 'file') {
      element.src = source.url
      start()
      return
    }
    let isGone = false
    let opened: Stream | null = null
    import('../player/stream.ts')
      .then(({ openStream }) => openStream(element, { ...source, audioOnly: false }, fail))
      .then((made) => {
        opened = made
        if (isGone) return made.destroy()
        setStream(made)
        return start()
      })
      .catch((error: unknown) => {
        if (!isGone) fail(error instanceof Error ? error.message : String(error))
      })
    return () => {
      isGone = true
      void opened?.destroy()
    }
  }, [])

  const choices = (
    <>
      {source.kind === 'file' && files.length > 1 ? (
        <Select
          label="Version"
          value={source.url}
          of={files.map(({ url, label }) => ({ id: url, label }))}
          onChoose={(url) => onChoose(url ?? source.url, now())}
        />
      ) : null}
      {stream !== null && stream.renditions.length > 1 ? (
        <Select label="Quality" none="Auto" of={stream.renditions} onChoose={(id) => stream.chooseRendition(id)} />
      ) : null}
      {stream !== null && stream.captions.length > 0 ? (
        <Select label="Captions" none="Off" of={stream.captions} onChoose={(id) => stream.chooseCaptions(id)} />
      ) : null}
    </>
  )
  const hasChoices =
    (source.kind === 'file' && files.length > 1) ||
    (stream !== null && (stream.renditions.length > 1 || stream.captions.length > 0))
  return (
    <>
      <div class="screen">
        <video
          ref={video}
          controls
          playsInline
          tabIndex={0}
          {...(media.poster_url === null ? {} : { poster: media.poster_url })}
          aria-label={media.title}
          onError={() => {
            // A stream has its own say.
            if (source.kind === 'file') fail('This browser cannot play this file. Download it and use a media player.')
          }}
        >
          {source.kind === 'file'
            ? media.captions.map(({ url, language, label }) => (
                <track key={url} kind="captions" src={url} label={label} {...(language ? { srclang: language } : {})} />
              ))
            : null}
        </video>
      </div>
      {!hasChoices ? null : isEmbedded ? (
        <details class="settings">
          <summary>Settings</summary>
          <div class="filters">{choices}</div>
        </details>
      ) : (
        <div class="filters">{choices}</div>
      )}
    </>
  )
}

interface SelectProps {
  label: string
  /** What stands for no choice; absent = there is always one. */
  none?: string
  value?: string
  of: readonly Choice[]
  onChoose: (id: string | null) => void
}

function Select({ label: name, none, value, of, onChoose }: SelectProps) {
  return (
    <label>
      <span>{name}</span>
      <select
        {...(value === undefined ? {} : { value })}
        onChange={(event) => onChoose(event.currentTarget.value || null)}
      >
        {none === undefined ? null : <option value="">{none}</option>}
        {of.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}
