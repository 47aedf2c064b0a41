// In charge of: the result of a job, to be watched: which of its playable outputs, in the player.
// Not in charge of: playing (web/src/player), which outputs a browser can play (playable.ts).
import { useState } from 'preact/hooks'
import type { PublicStatus } from '#contract/status.ts'
import { playables } from '../playable.ts'
import type { PlayerMedia } from '../player/media.ts'
import { Player } from '../player/player.tsx'

export function ResultPlayer({ status }: { status: PublicStatus }) {
  const found = playables(status.outputs)
  const [chosen, setChosen] = useState(0)
  const [started, setStarted] = useState(false)
  const source = found[chosen] ?? found[0]
  if (!source) return null
  return (
    <section class="card result" aria-labelledby="result">
      <h2 id="result" class="hidden">
        Player
      </h2>
      <Player media={mediaOf(status)} source={source} autoPlay={started} onStart={() => setStarted(true)} />
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
    </section>
  )
}

function mediaOf({ input_name: title, outputs, poster, source }: PublicStatus): PlayerMedia {
  const made = (role: string) => outputs.find((output) => output.role === role && /^https?:/.test(output.url))
  const size = poster ?? outputs.find(({ media }) => media?.video)?.media?.video ?? null
  const measured = outputs.find(({ media }) => media)?.media?.duration_seconds
  return {
    title,
    poster: made('poster')?.url ?? poster?.url ?? null,
    durationSeconds: measured ?? source?.duration_seconds ?? null,
    aspectRatio: size === null ? null : size.width / size.height,
    storyboard: made('storyboard')?.url ?? null,
    captions: [],
  }
}
