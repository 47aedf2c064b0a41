// In charge of: the thresholds of the measured figures, and the remedy for each.

export interface Threshold {
  /** Name of a figure in the report. */
  figure: string
  /** In the figure's unit. */
  maximum: number
  /** What the figure means. */
  description: string
  remedy: string
}

export const THRESHOLDS: readonly Threshold[] = [
  {
    figure: 'answer_ms',
    maximum: 1000,
    description: 'The service answers slowly',
    remedy: 'Look at the way to it (a proxy, another continent), then at npx wrangler tail.',
  },
  {
    figure: 'cold_start_seconds',
    maximum: 10,
    description: 'A container starts slowly',
    remedy:
      'Look at the image’s size (npx wrangler containers images list; npm run image says what it should be) and the instance_type (standard-4). The first hour after a deployment is slower: the image is still being distributed.',
  },
  {
    figure: 'change_seconds',
    maximum: 15,
    description: 'A container that served another job is replaced slowly',
    remedy: 'As of a slow start; a transcoder that does not end on SIGTERM shows in the container’s log.',
  },
  {
    figure: 'probe_seconds',
    maximum: 10,
    description: 'Reading the source takes long',
    remedy:
      'The way from the container through the Worker to R2 is slow: look at where the container runs (npx wrangler containers instances <id>).',
  },
  {
    figure: 'commit_seconds',
    maximum: 10,
    description: 'Putting outputs into their places takes long',
    remedy: 'The store is slow or far away: look at the bucket’s location.',
  },
  {
    figure: 'cancel_seconds',
    maximum: 10,
    description: 'A cancel takes long',
    remedy: 'It must not wait for the container: see docs/troubleshooting.md, and the Worker’s log.',
  },
]
