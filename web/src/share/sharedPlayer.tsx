// In charge of: which source of a shared result is played: if one fails the next is tried, if its addresses have
// expired it continues with new ones, and the viewer chooses among several files.
// Not in charge of: playback (../player), what there is to play (shareMedia.ts).
import { useRef, useState } from 'preact/hooks'
import type { SharedMedia } from '#contract/api/answers.ts'
import { Player as SharedPlayer } from '../player/player.tsx'
import { isEmbedded, isStale, readMedia } from './shareMedia.ts'

export function Player({ media: first }: { media: SharedMedia }) {
  const [media, setMedia] = useState(first)
  /** The source that the viewer started: sources played after it start by themselves and do not take the focus. */
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
      if (fresh !== null && typeof fresh !== 'string') {
        setMedia(fresh)
        return true
      }
    }
    // Another file is another version, which the viewer chooses; HLS and DASH are the same version.
    const another = source?.kind !== 'file' && chosen + 1 < media.sources.length
    if (another) setChosen(chosen + 1)
    return another
  }

  if (!source) {
    return (
      <p class="card">
        Browsers cannot play this format. {media.downloads.length > 0 ? 'Download it and use a media player.' : null}
      </p>
    )
  }
  return (
    <div class="stack playing" ref={root}>
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
        <label class="stack tight">
          <span>Version</span>
          <select
            value={source.url}
            onChange={(event) => {
              // Continues at the same position of the video.
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
