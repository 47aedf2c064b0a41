// In charge of: stills, the animated preview and the waveform of a job, as images.
// Not in charge of: the list of all files (outputs.tsx).
import type { PublicStatus } from '#contract/api/status.ts'
import { isPlayable, nameOf, type Open } from './outputKinds.ts'

/** More are in the list of files. */
const MAX_STILLS = 48

export function Extracts({ outputs }: Pick<PublicStatus, 'outputs'>) {
  const files = outputs.filter(isPlayable)
  const stills = files.filter(({ role }) => role === 'still')
  const preview = files.find(({ role }) => role === 'preview')
  const waveform = files.find(({ role, content_type: type }) => role === 'waveform' && type === 'image/png')
  if (stills.length === 0 && preview === undefined && waveform === undefined) return null
  return (
    <section class="card stack extracts" aria-labelledby="extracts">
      <h2 id="extracts">Images</h2>
      {preview === undefined ? null : <Animation file={preview} />}
      {waveform === undefined ? null : (
        <a href={waveform.url}>
          <img src={waveform.url} alt={`Waveform: ${nameOf(waveform.path)}`} loading="lazy" />
        </a>
      )}
      {stills.length === 0 ? null : (
        <ul class="stills">
          {stills.slice(0, MAX_STILLS).map(({ path, url }) => (
            <li key={path}>
              <a href={url} title={path}>
                <img src={url} alt={nameOf(path)} loading="lazy" decoding="async" />
              </a>
            </li>
          ))}
        </ul>
      )}
      {stills.length > MAX_STILLS ? (
        <p class="help">
          The first {MAX_STILLS} of {stills.length} stills.
        </p>
      ) : null}
    </section>
  )
}

function Animation({ file: { url, path, content_type: type } }: { file: Open }) {
  const name = `Animated preview: ${nameOf(path)}`
  return (
    <div>
      {type.startsWith('video/') ? (
        <video src={url} aria-label={name} controls loop muted playsInline preload="metadata" />
      ) : (
        <img src={url} alt={name} loading="lazy" />
      )}
    </div>
  )
}
