// In charge of: when a job did what.
import type { PublicStatus } from '#contract/status.ts'
import { duration, moment, standingOf, standingWords } from '../words.ts'

export function Timeline({ status }: { id: number; status: PublicStatus }) {
  const { created_at: created, started_at: started, finished_at: finished } = status
  const since = (from: string | null, to: string | null) =>
    from && to ? ` (after ${duration((Date.parse(to) - Date.parse(from)) / 1000)})` : ''
  const events: [string, string | null, string][] = [
    ['Created', created, ''],
    ['Started', started, since(created, started)],
    [finished ? standingWords[standingOf(status)] : 'Ended', finished, since(started ?? created, finished)],
  ]
  return (
    <section class="card" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol class="timeline">
        {events.map(([name, at, after]) => (
          <li key={name} class={at ? '' : 'ahead'}>
            <strong>{name}</strong>
            <span class="help">{at ? `${moment(at)}${after}` : 'not yet'}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
