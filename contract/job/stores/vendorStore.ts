// In charge of: the contract's rules for the service's own store: outputs of earlier jobs as sources, and the default
// destination.
// Not in charge of: whose outputs may be read (worker/storage/r2).
import { MAX_LENGTH } from '../../limits.ts'
import { keyProblem } from './objectKey.ts'
import { wrongForm, type StoreRules } from './storeRules.ts'

export interface OwnAddress {
  kind: 'own'
  /** null = the caller's account. */
  account: string | null
  jobId: string
  path: string
}

const FORM = 'vendor-store://out/<account>/<job_id>/<path> (the location in status.outputs) or out/<job_id>/<path>'

/** Below `out/<account>/<job_id>/`, with the longest possible account name. */
const PATH_BYTES = MAX_LENGTH.path_bytes - ('out/'.length + 40 + 1 + 36 + 1)

export const vendorStore: StoreRules<OwnAddress> = {
  labels: { input: 'Earlier output', output: 'Splicepoint storage', settings: 'Service storage' },
  schemes: [],
  root: { kind: 'bucket', elements: 1 },
  inputForm: FORM,
  outputForm: null,
  outputPathBytes: PATH_BYTES,
  example: 'out/5f0c…/film.mp4',
  members: [],
  parse(input) {
    const parts = /^(?:vendor-store:\/\/out\/([^/]+)|out)\/([A-Za-z0-9_-]+)\/(.+)$/su.exec(input)
    if (parts === null) return wrongForm('vendor-store', FORM)
    const path = parts[3]!
    return (
      keyProblem(path, PATH_BYTES) ?? {
        kind: 'own',
        account: parts[1] ?? null,
        jobId: parts[2]!,
        path,
      }
    )
  },
}
