// In charge of: the transcoders of the service: what kind and how many, and with an admin key each that registered itself.
import { useEffect, useState } from 'preact/hooks'
import type { Health, TranscoderList } from '#contract/api/administration.ts'
import { asError, listJobs, request, type Failure } from '../api/api.ts'
import type { Scope } from '../api/session.ts'
import type { Counts } from '../jobs/list.ts'
import { List } from '../parts/list.tsx'
import { Loading } from '../parts/loading.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { Link } from '../parts/router.tsx'
import { Tiles, type Tile } from '../parts/tiles.tsx'
import { formatAge, formatDateTime } from '../text/format.ts'

type Transcoder = TranscoderList['transcoders'][number]

const KINDS: Readonly<Record<Health['transcoders'], string>> = {
  local: 'At fixed addresses',
  registered: 'Registered by themselves',
  containers: 'Containers, started when needed',
}

const LOOKS: Readonly<Record<Transcoder['state'], string>> = {
  ready: 'completed',
  draining: 'queued',
  lost: 'failed',
  unreachable: 'failed',
  incompatible: 'failed',
}

interface Loaded {
  health: Health
  /** null = this key may not list them. */
  transcoders: readonly Transcoder[] | null
  /** The account's own jobs; null = this key has none. */
  counts: Counts | null
}

async function load(scope: Scope): Promise<Loaded> {
  const [health, listed, jobs] = await Promise.all([
    request<Health>('/health'),
    scope === 'admin' ? request<TranscoderList>('/api/v0/transcoders') : null,
    scope === 'admin' ? null : listJobs({ limit: 1, counts: true }),
  ])
  return { health, transcoders: listed?.transcoders ?? null, counts: jobs?.counts ?? null }
}

export function Transcoders({ scope }: { scope: Scope }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const read = async (): Promise<void> => {
    setFailure(null)
    await load(scope).then(setLoaded, (error: unknown) => setFailure(asError(error)))
  }
  useEffect(() => void read(), [])
  const { health, transcoders, counts } = loaded ?? {}
  return (
    <>
      <h1>Transcoders</h1>
      {failure ? <ConnectionNotice failure={failure} retry={() => void read()} /> : null}
      {health === undefined ? (
        failure ? null : (
          <Loading label="Loading the transcoders" />
        )
      ) : (
        <section class="card" aria-label="All transcoders">
          <Tiles
            tiles={[
              ['Kind', KINDS[health.transcoders]],
              ['Jobs at the same time', String(health.slots)],
              ...(counts
                ? ([
                    ['Your running jobs', String(counts.running)],
                    ['Your queued jobs', String(counts.queued)],
                  ] satisfies Tile[])
                : []),
              ['Without an answer', String(health.transcoders_silent)],
              ['Jobs that fail to start', String(health.starts_failing)],
              ['Version of the service', health.version],
            ]}
          />
        </section>
      )}
      {transcoders?.length ? (
        <List heads={['Transcoder', 'State', 'Job', 'Version', 'ffmpeg', 'Seen']}>
          {transcoders.map((each) => (
            <Row key={each.id} of={each} />
          ))}
        </List>
      ) : health?.transcoders === 'registered' ? (
        <p class="help">
          {transcoders ? 'None has registered yet.' : 'With an admin key, each of them is listed here.'}
        </p>
      ) : null}
    </>
  )
}

function Row({ of }: { of: Transcoder }) {
  const { id, url, state, problem, job, version, ffmpeg, seen_at: at } = of
  return (
    <li class="row">
      <div class="what">
        <strong class="cut">{id}</strong>
        <span class="help cut">{problem ?? url}</span>
      </div>
      <div class="cells">
        <span>
          <span class={`badge ${LOOKS[state]}`}>{state}</span>
        </span>
        <span>{job === null ? '–' : <Link to={`/jobs/${job}`}>#{job}</Link>}</span>
        <span class="help">{version}</span>
        <span class="help">{ffmpeg ?? '–'}</span>
        <time class="help" dateTime={at} title={formatDateTime(at)}>
          {formatAge(at, Date.now())}
        </time>
      </div>
    </li>
  )
}
