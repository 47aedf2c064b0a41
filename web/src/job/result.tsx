// In charge of: playing the result of a job: a choice of its playable outputs, the player, and an address to copy.
// Not in charge of: playback (../player), which outputs a browser can play (playable.ts).
import { useState } from 'preact/hooks'
import type { PublicStatus } from '#contract/api/status.ts'
import { Copy } from '../parts/copy.tsx'
import { playableSources } from './playable.ts'
import type { PlayerMedia } from '../player/playerMedia.ts'
import { Player } from '../player/player.tsx'
import { isPlayable } from './outputKinds.ts'

export function Result({ status }: { status: PublicStatus }) {
  const found = playableSources(status.outputs)
  const [chosen, setChosen] = useState(0)
  const [started, setStarted] = useState(false)
  const source = found[chosen] ?? found[0]
  if (!source) return null
  return (
    <section class="card stack" aria-labelledby="result">
      <h2 id="result" class="hidden">
        Player
      </h2>
      <Player media={mediaOf(status)} source={source} autoPlay={started} onStart={() => setStarted(true)} />
      <div class="line low">
        {found.length > 1 ? (
          <label class="stack tight">
            <span>Play</span>
            <select value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {found.map(({ label, url }, index) => (
                <option key={url} value={index}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        ) : null}
        <div class="line low grow">
          <label class="stack tight grow">
            <span>Playback address</span>
            <input readOnly value={source.url} spellcheck={false} onFocus={(event) => event.currentTarget.select()} />
          </label>
          <Copy key={source.url} text={source.url} what={`the playback address of ${source.label}`} label="Copy" />
        </div>
      </div>
    </section>
  )
}

function mediaOf({ input_name: title, outputs, poster, source }: PublicStatus): PlayerMedia {
  const made = (role: string) => outputs.filter(isPlayable).find((output) => output.role === role)
  const size = outputs.find(({ media }) => media?.video)?.media?.video ?? poster
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
