// In charge of: what the service accepts, as GET /api/v0/limits publishes it.
import { useEffect, useState } from 'preact/hooks'
import type { publishedLimits } from '#contract/limits.ts'
import { readLimits } from '../api.ts'
import { Facts, type Fact } from '../parts/facts.tsx'
import { Loading } from '../parts/loading.tsx'
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
      {limits ? <Tables limits={limits} /> : failure ? null : <Loading label="Loading the limits" lines={3} />}
    </>
  )
}

const span = (range: { minimum: number; maximum: number }) => `${range.minimum} to ${range.maximum}`

function Tables({ limits }: { limits: Published }) {
  const codecs = ['h.264', 'hevc', 'mpeg2'] as const
  const facts: Fact[] = [
    ['Jobs at a time', `${limits.quotas.active_jobs} that have not ended, unless yours is another number`],
    [
      'Requests a minute',
      limits.quotas.requests_per_minute === null ? 'not counted' : String(limits.quotas.requests_per_minute),
    ],
    [
      'Uploads that are stored',
      limits.quotas.stored_upload_bytes === null
        ? 'not bounded'
        : `${bytes(limits.quotas.stored_upload_bytes)} together, unless yours is another number`,
    ],
    ['An upload', bytes(limits.resumable_upload.bytes)],
    ['An upload in one request', bytes(limits.upload_bytes)],
    ['Body of a request', bytes(limits.body_bytes)],
    ['Video profiles', span(limits.videoProfiles)],
    ['Audio profiles', span(limits.audioProfiles)],
    ['Width', `${span(limits.width)} pixels, 0 = the source’s`],
    ['Height', `${span(limits.height)} pixels, 0 = the source’s`],
    [
      'Uploads are kept',
      `${limits.retention_days.uploads} days, unfinished ones ${limits.retention_days.unfinished_uploads}`,
    ],
    ['Outputs in the own store are kept', `${limits.retention_days.outputs} days`],
    ['Jobs are kept', `${limits.retention_days.jobs} days`],
  ]
  return (
    <>
      <section class="card" aria-labelledby="requests">
        <h2 id="requests">Requests and what is kept</h2>
        <Facts facts={facts} />
      </section>
      <section class="card">
        <h2 id="bitrates">Video bitrates in kbps</h2>
        <div class="scroll" tabIndex={0} role="region" aria-labelledby="bitrates">
          <table>
            <thead>
              <tr>
                <td />
                {codecs.map((codec) => (
                  <th scope="colgroup" colSpan={3} key={codec}>
                    {codec}
                  </th>
                ))}
              </tr>
              <tr>
                <th scope="col">Size</th>
                {codecs.flatMap((codec) =>
                  ['cbr from', 'vbr from', 'up to'].map((bound) => (
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
                  {codecs.flatMap((codec) => {
                    const allowed = size[codec]
                    const cells = allowed
                      ? [allowed.minimum.cbr, allowed.minimum.vbr, allowed.maximum]
                      : ['–', '–', '–']
                    return cells.map((cell, index) => <td key={codec + String(index)}>{cell}</td>)
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </>
  )
}
