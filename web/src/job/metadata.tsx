// In charge of: a job's metadata; each value links to the jobs with the same value.
import { addressOf, ALL } from '../api/jobFilters.ts'
import { Link } from '../parts/router.tsx'

export function Metadata({ metadata }: { metadata: Readonly<Record<string, string>> }) {
  const members = Object.entries(metadata)
  if (members.length === 0) return null
  return (
    <section class="card stack" aria-labelledby="metadata">
      <h2 id="metadata">Metadata</h2>
      <dl class="stack facts">
        {members.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Link to={addressOf({ ...ALL, metadata: `${name}:${value}` })}>{value}</Link>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
