// In charge of: pages whose scripts are loaded when they are first shown, so that the first page appears sooner.
import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from './loading.tsx'
import { offline, type Failure } from '../api/api.ts'
import { ConnectionNotice } from './notice.tsx'

/** `load` is called again on each visit until it succeeds; a loaded page is shown at once. */
export function lazyPage<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | null = null
  return function Deferred(props: Props) {
    const [Page, setPage] = useState<FunctionComponent<Props> | null>(() => loaded)
    const [failure, setFailure] = useState<Failure | null>(null)
    const [attempt, setAttempt] = useState(0)
    useEffect(() => {
      if (loaded) return
      setFailure(null)
      const begin = async (): Promise<void> => {
        try {
          const page = await load()
          loaded = page
          setPage(() => page)
        } catch {
          setFailure(offline('This page could not be loaded.').failure)
        }
      }
      void begin()
    }, [attempt])
    if (Page) return <Page {...props} />
    return failure ? (
      <ConnectionNotice failure={failure} retry={() => setAttempt(attempt + 1)} />
    ) : (
      <Loading label="Loading the page" lines={3} />
    )
  }
}
