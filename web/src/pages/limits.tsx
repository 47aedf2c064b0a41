// In charge of: the limits that GET /api/v0/limits publishes, and how much of them the account's jobs use now.
import { useEffect, useState } from 'preact/hooks'
import { codecOf, videoCodecs, WIRE_VIDEO_CODECS } from '#contract/codecs.ts'
import type { publishedLimits } from '#contract/api/publishedLimits.ts'
import { listJobs, readLimits, asError, type Failure } from '../api/api.ts'
import { DefinitionList, type Definition } from '../parts/facts.tsx'
import { Loading } from '../parts/loading.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { formatBytes } from '../text/format.ts'

type Published = ReturnType<typeof publishedLimits>

export function Limits() {
  const [limits, setLimits] = useState<Published | null>(null)
  /** Jobs that have not ended; null = not known, or this key has no jobs. */
  const [active, setActive] = useState<number | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    setFailure(null)
    readLimits().then(
      (answer) => setLimits(answer as Published),
      (error: unknown) => setFailure(asError(error)),
    )
    listJobs({ limit: 1, counts: true }).then(
      ({ counts }) => setActive(counts ? counts.queued + counts.running : null),
      // A key without jobs.
      () => setActive(null),
    )
  }, [attempt])
  return (
    <>
      <h1>Limits</h1>
      {failure ? <ConnectionNotice failure={failure} retry={() => setAttempt(attempt + 1)} /> : null}
      {limits ? (
        <Tables limits={limits} active={active} />
      ) : failure ? null : (
        <Loading label="Loading the limits" lines={3} />
      )}
    </>
  )
}

const count = (value: number): string => value.toLocaleString('en')
const span = (range: { minimum: number; maximum: number }) => `${count(range.minimum)} to ${count(range.maximum)}`
const days = (value: number): string => `${value} ${value === 1 ? 'day' : 'days'}`

function groupsOf(
  { quotas, retention_days: kept, ...limits }: Published,
  active: number | null,
): [title: string, note: string, Definition[]][] {
  return [
    [
      'Quotas',
      'For each account, unless an administrator has set other values for yours.',
      [
        [
          'Active jobs',
          `${active === null ? '' : `${count(active)} of `}${count(quotas.active_jobs)} queued and running`,
        ],
        [
          'Requests per minute',
          quotas.requests_per_minute === null ? 'no limit' : `${count(quotas.requests_per_minute)} per API key`,
        ],
        [
          'Stored uploads',
          quotas.stored_upload_bytes === null ? 'no limit' : `${formatBytes(quotas.stored_upload_bytes)} in total`,
        ],
      ],
    ],
    [
      'Retention',
      'Deleted automatically after this time.',
      [
        ['Uploads', days(kept.uploads)],
        ['Unfinished uploads', days(kept.unfinished_uploads)],
        ['Outputs', `${days(kept.outputs)} in the service’s storage`],
        ['Jobs', days(kept.jobs)],
      ],
    ],
    [
      'Uploads and requests',
      '',
      [
        ['File size', formatBytes(limits.resumable_upload.bytes)],
        ['In one request', formatBytes(limits.upload_bytes)],
        ['JSON body', formatBytes(limits.body_bytes)],
      ],
    ],
    [
      'Output settings',
      '',
      [
        ['Renditions', span(limits.videoProfiles)],
        ['Audio tracks', span(limits.audioProfiles)],
        ['Width', `${span(limits.width)} px`],
        ['Height', `${span(limits.height)} px`],
      ],
    ],
  ]
}

function Tables({ limits, active }: { limits: Published; active: number | null }) {
  return (
    <>
      <div class="pair">
        {groupsOf(limits, active).map(([title, note, facts]) => (
          <section key={title} class="card stack" aria-label={title}>
            <div>
              <h2>{title}</h2>
              {note === '' ? null : <p class="help">{note}</p>}
            </div>
            <DefinitionList facts={facts} />
          </section>
        ))}
      </div>
      <section class="card stack">
        <details>
          <summary>
            <h2 id="bitrates">Video bitrates (kbit/s)</h2>
          </summary>
          <div class="scroll" tabIndex={0} role="region" aria-labelledby="bitrates">
            <table>
              <thead>
                <tr>
                  <td />
                  {WIRE_VIDEO_CODECS.map((codec) => (
                    <th scope="colgroup" colSpan={3} key={codec}>
                      {videoCodecs[codecOf(codec)].title}
                    </th>
                  ))}
                </tr>
                <tr>
                  <th scope="col">Frame size</th>
                  {WIRE_VIDEO_CODECS.flatMap((codec) =>
                    ['CBR from', 'VBR from', 'up to'].map((bound) => (
                      <th scope="col" key={codec + bound}>
                        {bound}
                      </th>
                    )),
                  )}
                </tr>
              </thead>
              <tbody>
                {limits.video_bitrate_kbps.sizes.map((size) => (
                  <tr key={`${size.width}x${size.height}`}>
                    <th scope="row">
                      {size.width} × {size.height}
                    </th>
                    {WIRE_VIDEO_CODECS.flatMap((codec) => {
                      const allowed = size[codec]
                      const cells = allowed
                        ? [allowed.minimum.cbr, allowed.minimum.vbr, allowed.maximum]
                        : ['–', '–', '–']
                      return cells.map((cell, index) => (
                        <td key={codec + String(index)}>{typeof cell === 'number' ? count(cell) : cell}</td>
                      ))
                    })}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      </section>
    </>
  )
}
