// In charge of: the measured properties of a job's outputs: kind, frame size, codecs, bitrates, duration, size;
// addresses to copy and files to download; checksums on request.
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import type { PublicOutput } from '#contract/api/status.ts'
import { dimensions, runningTime } from '../text/mediaTerms.ts'
import { Copy } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { formatBytes } from '../text/format.ts'
import { isOpen, kindOf, nameOf, sortOutputs } from './outputKinds.ts'
import { audioDetails, bitrate, captionDetails, heightName, videoDetails } from '../text/mediaDetails.ts'

export function Outputs({ outputs }: { outputs: readonly PublicOutput[] }) {
  const [hashes, setHashes] = useState(false)
  if (outputs.length === 0) return null
  const { main, others } = sortOutputs(outputs)
  const groups = grouped(main)
  const peak = Math.max(1, ...main.flatMap(({ media }) => (media ? [media.peak_bitrate_kbps] : [])))
  return (
    <section class="card stack" aria-labelledby="outputs">
      <div class="line apart">
        <h2 id="outputs">Outputs</h2>
        <label class="check help">
          <input type="checkbox" checked={hashes} onChange={(event) => setHashes(event.currentTarget.checked)} />
          Show checksums
        </label>
      </div>
      <ul class="stack made">
        {groups.map((group) => (
          <li key={group[0]?.path} class="stack">
            {group.map((output) => (
              <Head key={output.path} output={output} total={totalOf(output, outputs)} hashes={hashes} />
            ))}
            {group[0]?.media ? <Measured media={group[0].media} peak={peak} /> : null}
          </li>
        ))}
      </ul>
      {others.length > 0 ? (
        <details class="group">
          <summary>
            {others.length} supporting {others.length === 1 ? 'file' : 'files'}{' '}
            <span class="help">{kindsOf(others)}</span>
          </summary>
          <ul class="stack tight made">
            {others.map((output) => (
              <li key={output.path}>
                <Head output={output} total={totalOf(output, outputs)} hashes={hashes} showsSummary />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </section>
  )
}

const kindsOf = (outputs: readonly PublicOutput[]): string => [...new Set(outputs.map(kindOf))].join(', ')

/** HLS and DASH of the same segments have the same measurements, which are shown once. */
function grouped(outputs: readonly PublicOutput[]): PublicOutput[][] {
  const same = ({ media }: PublicOutput) => JSON.stringify({ ...media, renditions: media?.renditions?.map(ratesOf) })
  const groups: PublicOutput[][] = []
  for (const output of outputs) {
    const before = groups.at(-1)
    const first = before?.[0]
    if (first?.media?.renditions && output.media?.renditions && same(first) === same(output)) before?.push(output)
    else groups.push([output])
  }
  return groups
}

interface Total {
  bytes: number
  segments: number
}

/** A manifest represents the segments of all its tracks; their sizes belong to the playlists listed with it. */
function totalOf(output: PublicOutput, all: readonly PublicOutput[]): Total {
  const counted = output.media?.renditions ? all.filter(({ role }) => role === 'playlist') : [output]
  return {
    bytes: output.size + counted.reduce((sum, { segments }) => sum + (segments?.bytes ?? 0), 0),
    segments: counted.reduce((sum, { segments }) => sum + (segments?.count ?? 0), 0),
  }
}

interface HeadProps {
  output: PublicOutput
  total: Total
  hashes: boolean
  /** Adds the most important measurements in one line. */
  showsSummary?: boolean
}

function Head({ output, total, hashes, showsSummary }: HeadProps) {
  const { path, sha256, media } = output
  const url = isOpen(output) ? output.url : null
  return (
    <>
      <div class="line">
        <span class="badge accent">{kindOf(output)}</span>
        <div class="stack tight grow">
          <strong>{path}</strong>
          {url !== null ? null : <code class="help">{output.location}</code>}
          {showsSummary === true && media ? <span class="help">{inBrief(media)}</span> : null}
        </div>
        <span class="figures made-size">
          {formatBytes(total.bytes)}
          {total.segments > 0 ? (
            <span class="help">
              {total.segments} {total.segments === 1 ? 'segment' : 'segments'}
            </span>
          ) : null}
        </span>
        <div class="line">
          {url !== null ? (
            <Copy text={url} what={`the address of ${path}`} />
          ) : (
            <Copy text={output.location} what={`the location of ${path}`} />
          )}
          {url !== null ? (
            <a
              class="button small quiet"
              href={url}
              download={nameOf(path)}
              aria-label={`Download ${path}`}
              title={`Download ${path}`}
            >
              <Icon name="download" size={16} />
            </a>
          ) : null}
        </div>
      </div>
      {hashes ? (
        <div class="line help">
          SHA-256 <code>{sha256}</code>
          <Copy text={sha256} what={`the SHA-256 of ${path}`} />
        </div>
      ) : null}
    </>
  )
}

const inBrief = ({ video, average_bitrate_kbps: average, peak_bitrate_kbps: most }: MediaFacts): string =>
  [
    ...(video ? [dimensions(video.width, video.height)] : []),
    `${bitrate(average)} average`,
    `${bitrate(most)} peak`,
  ].join(' · ')

function Measured({ media, peak }: { media: MediaFacts; peak: number }) {
  const { video, audio, renditions } = media
  const captions = captionDetails(media)
  const facts: [string, string][] = [
    ...(video && !renditions ? [['Frame size', dimensions(video.width, video.height)] satisfies [string, string]] : []),
    ...(video ? [['Video', videoDetails(video)] satisfies [string, string]] : []),
    ...(audio.length > 0 ? [['Audio', audio.map(audioDetails).join('; ')] satisfies [string, string]] : []),
    ...(captions === '' ? [] : [['Captions', captions] satisfies [string, string]]),
    ['Duration', runningTime(media.duration_seconds)],
  ]
  return (
    <>
      <dl class="tiles">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="rates">
        <span class="help">{renditions ? 'Rendition' : ''}</span>
        <span class="help">Bitrate</span>
        <span class="number help">average</span>
        <span class="number help">peak</span>
        {(renditions ?? [{ ...(video ?? { width: 0, height: 0 }), path: '', ...ratesOf(media) }]).map((each) => (
          <Fragment key={each.path + String(each.height)}>
            <span class="rate-name" title={each.path}>
              {each.height > 0 ? (
                <>
                  {heightName(each)} <span class="help">{renditions ? dimensions(each.width, each.height) : ''}</span>
                </>
              ) : (
                'Audio'
              )}
            </span>
            <Rate average={each.average_bitrate_kbps} most={each.peak_bitrate_kbps} scale={peak} />
            <span class="number figures">{bitrate(each.average_bitrate_kbps)}</span>
            <span class="number figures">{bitrate(each.peak_bitrate_kbps)}</span>
          </Fragment>
        ))}
      </div>
    </>
  )
}

const ratesOf = (rates: Pick<MediaFacts, 'average_bitrate_kbps' | 'peak_bitrate_kbps'>) => ({
  average_bitrate_kbps: rates.average_bitrate_kbps,
  peak_bitrate_kbps: rates.peak_bitrate_kbps,
})

/** The average as a bar, the peak as a marker; the numbers next to it say the same. */
function Rate({ average, most, scale }: { average: number; most: number; scale: number }) {
  const part = (kbps: number) => String(Math.min(1, kbps / scale))
  return <span class="rate" aria-hidden="true" style={{ '--average': part(average), '--peak': part(most) }} />
}
