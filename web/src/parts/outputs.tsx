// In charge of: the list of what a job has made: sizes, hashes, addresses.
import type { PublicOutput } from '#contract/status.ts'
import { bytes } from '../words.ts'
import { Copy } from './copy.tsx'
import { Icon } from './icon.tsx'

/** So many are listed without a fold. */
const FEW = 6

export function Outputs({ outputs }: { outputs: readonly PublicOutput[] }) {
  if (outputs.length === 0) return null
  // What stands for all of it first: a multivariant playlist before the playlists that it names.
  const depth = ({ path }: PublicOutput) => path.split('/').length
  const sorted = outputs.toSorted((a, b) => depth(a) - depth(b))
  const top = depth(sorted[0]!)
  const first = sorted.length <= FEW ? sorted : sorted.filter((output) => depth(output) === top)
  const others = sorted.slice(first.length)
  return (
    <section class="card" aria-labelledby="outputs">
      <h2 id="outputs">Outputs</h2>
      <List outputs={first} />
      {others.length > 0 ? (
        <details>
          <summary>{others.length} more that these refer to</summary>
          <List outputs={others} />
        </details>
      ) : null}
    </section>
  )
}

function List({ outputs }: { outputs: readonly PublicOutput[] }) {
  return (
    <ul class="outputs">
      {outputs.map((output) => (
        <li key={output.path}>
          <div>
            {/^https?:/.test(output.url) ? (
              <a href={output.url} download={output.path.split('/').at(-1)}>
                <Icon name="download" size={16} /> {output.path}
              </a>
            ) : (
              <code>{output.location}</code>
            )}
            <div class="help">
              {output.role} · {output.content_type}
              {output.segments
                ? ` · ${output.segments.count} ${output.segments.count === 1 ? 'segment' : 'segments'}, ${bytes(output.segments.bytes)}`
                : ''}
            </div>
          </div>
          <span class="figures">{bytes(output.size)}</span>
          <div class="hash help">
            <code title="SHA-256">{output.sha256}</code>
            <Copy text={output.sha256} what={`the SHA-256 of ${output.path}`} />
          </div>
        </li>
      ))}
    </ul>
  )
}
