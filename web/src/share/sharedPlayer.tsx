// In charge of: which source of a shared result is played: where one fails the next is tried, where its addresses have expired
// it goes on with new ones, and of several files the viewer chooses the version.
// Not in charge of: playing (../player), what there is to play (shareMedia.ts).
import { useRef, useState } from 'preact/hooks'
import type { SharedMedia } from '#contract/api/answers.ts'
import { Player as SharedPlayer } from '../player/player.tsx'
import { isEmbedded, isStale, readMedia } from './shareMedia.ts'

export function Player({ media: first }: { media: SharedMedia }) {
  const [media, setMedia] = useState(first)
  /** What the viewer started: what is played after it starts by itself, and leaves the focus where it is. */
  const [started, setStarted] = useState<string | null>(null)
  const [chosen, setChosen] = useState(0)
  const [from, setFrom] = useState(0)
  const root = useRef<HTMLDivElement>(null)
  const source = media.sources[chosen]
  const files = media.sources.filter(({ kind }) => kind === 'file')

  const recover = async (_message: string, at: number): Promise<boolean> => {
    setFrom(at)
    if (isStale(media)) {
      const fresh = await readMedia().catch(() => null)
      if (fresh) {
        setMedia(fresh)
        return true
      }
    }
    // Another file is another version of the viewer's choice; HLS and DASH are the same one.
    const another = source?.kind !== 'file' && chosen + 1 < media.sources.length
    if (another) setChosen(chosen + 1)
    return another
  }

  if (!source) {
    return (
      <p class="unplayable">
        Browsers cannot play this format. {media.downloads.length > 0 ? 'Download it and use a media player.' : null}
      </p>
    )
  }
  return (
    <div class="playing" ref={root}>
      <SharedPlayer
        key={source.url}
        media={{
          title: media.title,
          poster: media.poster_url,
          durationSeconds: media.duration_seconds,
          aspectRatio: media.aspect_ratio,
          storyboard: media.storyboard_url,
          captions: media.captions,
        }}
        source={{ kind: source.kind, url: source.url, label: media.title, audioOnly: isAudio(source) }}
        autoPlay={started !== null && started !== source.url}
        fill={isEmbedded}
        startAt={from}
        onStart={() => setStarted((before) => before ?? source.url)}
        onFailure={recover}
      />
      {source.kind === 'file' && files.length > 1 && !isEmbedded ? (
        <label class="version">
          <span>Version</span>
          <select
            value={source.url}
            onChange={(event) => {
              // The same moment of the same film.
              setFrom(root.current?.querySelector('video')?.currentTime ?? 0)
              setChosen(media.sources.findIndex(({ url }) => url === event.currentTarget.value))
            }}
          >
            {files.map(({ url, label }) => (
              <option key={url} value={url}>
                {label}
              </option>
            ))}
          </select>
        </label>
      ) : null}
    </div>
  )
}

const isAudio = ({ content_type: type }: SharedMedia['sources'][number]): boolean => type.startsWith('audio/')
