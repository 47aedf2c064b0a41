// In charge of: the list of what a job has made: sizes, hashes, addresses.
import type { PublicOutput } from '#contract/status.ts'
import { bytes } from '../words.ts'

export function Outputs({ outputs }: { outputs: readonly PublicOutput[] }) {
  if (outputs.length === 0) return null
  // What stands for all of it first: a multivariant playlist before the playlists that it names.
  const weight = ({ path }: PublicOutput) => path.split('/').length
  const sorted = outputs.toSorted((a, b) => weight(a) - weight(b))
  return (
    <section class="card" aria-labelledby="outputs">
      <h2 id="outputs">Outputs</h2>
      <ul class="outputs">
        {sorted.map((output) => (
          <li key={output.path}>
            <div>
              {/^https?:/.test(output.url) ? (
                <a href={output.url} download={output.path.split('/').at(-1)}>
                  {output.path}
                </a>
              ) : (
                <code>{output.location}</code>
              )}
              <div class="help">
                {output.role} · {output.content_type}
                {output.segments ? ` · ${output.segments.count} segments, ${bytes(output.segments.bytes)}` : ''}
              </div>
            </div>
            <span class="figures">{bytes(output.size)}</span>
            <code class="hash help" title="SHA-256">
              {output.sha256}
            </code>
          </li>
        ))}
      </ul>
    </section>
  )
}
