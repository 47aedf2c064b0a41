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
    remedy: 'Check the network path (a proxy, another continent), then npm run cloudflare -- tail.',
  },
  {
    figure: 'cold_start_seconds',
    maximum: 10,
    description: 'A container starts slowly',
    remedy:
      'Check the image’s size (npm run cloudflare -- containers images list; npm run image shows the expected size) and the instance_type (standard-4). The first hour after a deployment is slower: the image is still being distributed.',
  },
  {
    figure: 'change_seconds',
    maximum: 15,
    description: 'A container that served another job is replaced slowly',
    remedy: 'As for a slow start. The container’s log shows whether the transcoder does not end on SIGTERM.',
  },
  {
    figure: 'probe_seconds',
    maximum: 10,
    description: 'Reading the source is slow',
    remedy:
      'The path from the container through the Worker to R2 is slow. Check where the container runs (npm run cloudflare -- containers instances <id>).',
  },
  {
    figure: 'commit_seconds',
    maximum: 10,
    description: 'Publishing the outputs is slow',
    remedy: 'The store is slow or far away. Check the location of the bucket.',
  },
  {
    figure: 'cancel_seconds',
    maximum: 10,
    description: 'Cancelling is slow',
    remedy: 'It should not wait for the container. See docs/troubleshooting.md and the Worker’s log.',
  },
]
