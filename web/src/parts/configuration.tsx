// In charge of: a job's stored configuration, which the service returns without secrets.
import type { JobConfig } from '#contract/job.ts'

export function Configuration({ config }: { config: JobConfig }) {
  return (
    <section class="card" aria-labelledby="configuration">
      <h2 id="configuration">Configuration</h2>
      <details>
        <summary>Stored without secrets</summary>
        <pre class="code" tabIndex={0} aria-label="Configuration as JSON">
          {JSON.stringify(config, null, 2)}
        </pre>
      </details>
    </section>
  )
}
