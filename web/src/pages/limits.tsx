// In charge of: what the service accepts, as GET /api/v0/limits publishes it.
import { useEffect, useState } from 'preact/hooks'
import type { publishedLimits } from '#contract/limits.ts'
import { readLimits } from '../api.ts'
import { asError, Trouble, type Failure } from '../parts/notice.tsx'
import { bytes } from '../words.ts'

type Published = ReturnType<typeof publishedLimits>

export function Limits() {
  const [limits, setLimits] = useState<Published | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    setFailure(null)
    readLimits().then(
      (answer) => setLimits(answer as Published),
      (error: unknown) => setFailure(asError(error)),
    )
  }, [attempt])
  return (
    <>
      <h1>Limits</h1>
      {failure ? <Trouble failure={failure} retry={() => setAttempt(attempt + 1)} /> : null}
      {limits ? (
        <Tables limits={limits} />
      ) : failure ? null : (
        <div class="skeleton" role="status" aria-label="Loading" />
      )}
    </>
  )
}

const span = (range: { minimum: number; maximum: number }) => `${range.minimum} to ${range.maximum}`

function Tables({ limits }: { limits: Published }) {
  const codecs = ['h.264', 'hevc', 'mpeg2'] as const
  const rows: [string, string][] = [
    ['One upload in one request', bytes(limits.upload_bytes)],
    ['Body of a request', bytes(limits.body_bytes)],
    ['Video profiles', span(limits.videoProfiles)],
    ['Audio profiles', span(limits.audioProfiles)],
    ['Width', `${span(limits.width)} pixels, 0 = the source’s`],
    ['Height', `${span(limits.height)} pixels, 0 = the source’s`],
    ['Uploads are kept', `${limits.retention_days.uploads} days`],
    ['Outputs in the own store are kept', `${limits.retention_days.outputs} days`],
    ['Jobs are kept', `${limits.retention_days.jobs} days`],
  ]
  return (
    <>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h2 id="bitrates">Video bitrates in kbps</h2>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby="bitrates">
        <table>
          <thead>
            <tr>
              <th scope="col">Size</th>
              {codecs.flatMap((codec) =>
                ['cbr from', 'vbr from', 'up to'].map((bound) => (
                  <th scope="col" key={codec + bound}>
                    {codec} {bound}
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
                {codecs.flatMap((codec) => {
                  const allowed = size[codec]
                  const cells = allowed ? [allowed.minimum.cbr, allowed.minimum.vbr, allowed.maximum] : ['–', '–', '–']
                  return cells.map((cell, index) => <td key={codec + String(index)}>{cell}</td>)
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
