// In charge of: the result of a dry run as text.
import type { Estimate } from '#contract/task/dryRunEstimate.ts'
import { formatBytes, formatDollars, formatDuration, formatRange } from '../text/format.ts'
import { DefinitionList, type Definition } from './facts.tsx'

function sourceSentence({ probe }: Estimate): string {
  const { video, audio } = probe
  const parts = [
    probe.duration_seconds === null ? 'of unknown length' : formatDuration(probe.duration_seconds),
    video === null
      ? 'no video'
      : `${video.codec} ${video.width} × ${video.height}${video.hdr ? ', HDR' : ''}, ${video.scan}`,
    audio.length === 0
      ? 'no audio'
      : audio
          .map((stream) => `audio stream ${stream.source_stream}: ${stream.codec}, ${stream.channels} channels`)
          .join('; '),
  ]
  return parts.join(', ')
}

/** Missing where one transcoder makes the whole job. */
function divisionFacts({ division }: Estimate['plan']): Definition[] {
  if (division === undefined) return []
  const chosen = division.chosen_by === 'prediction' ? ', by the predicted time' : ''
  return [['Chunks', `${division.chunks}, each of at most ${formatDuration(division.chunk_seconds)}${chosen}`]]
}

/** Missing without deadline_seconds. */
function deadlineFacts({ deadline }: Estimate['plan']): Definition[] {
  if (deadline === undefined) return []
  const { seconds, slots, slots_needed: needed } = deadline
  const many = needed === null ? 'no number of transcoders is enough' : `takes ${needed} at the same time`
  return [['Deadline', `${formatDuration(seconds)}: ${many}; there are ${slots}`]]
}

export function EstimateView({ estimate }: { estimate: Estimate }) {
  const { predicted, plan } = estimate
  const { vcpus, memory_gib: memory } = predicted.machine
  const facts: Definition[] = [
    ['Source', sourceSentence(estimate)],
    [
      'Time',
      `${formatRange(predicted.wall_seconds, formatDuration)} on ${vcpus} CPUs and ${memory} GiB, without the time in the queue`,
    ],
    ['Computing', `${formatRange(predicted.cpu_seconds, formatDuration)} of one CPU`],
    ['Size', formatRange(predicted.output_bytes, formatBytes)],
    ['Cost', formatRange(predicted.cost_usd, formatDollars)],
    ...divisionFacts(plan),
    ...deadlineFacts(plan),
  ]
  return (
    <>
      <DefinitionList facts={facts} />
      {plan.outputs.map((file) => (
        <div key={file.path} class="planned">
          <h3>{file.path}</h3>
          <p>
            {file.description.join(' ')}{' '}
            {file.output_bytes ? `Size: ${formatRange(file.output_bytes, formatBytes)}.` : ''}
          </p>
        </div>
      ))}
      {estimate.warnings.length > 0 ? (
        <>
          <h3>Warnings</h3>
          <ul>
            {estimate.warnings.map((warning) => (
              <li key={warning.code + warning.message}>{warning.message}</li>
            ))}
          </ul>
        </>
      ) : null}
    </>
  )
}
