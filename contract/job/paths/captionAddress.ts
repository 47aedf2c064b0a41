// In charge of: the address of a caption file: in which store it is, and how it is stored with the job.
// Not in charge of: whether an http address may be fetched (worker/storage/addressPolicy.ts).
import { parseInput, rulesOf, type InputAddress, type Provider } from '../stores/registry.ts'
import { invalidAddress } from '../stores/storeRules.ts'

export interface CaptionAddress {
  provider: Provider
  address: Exclude<InputAddress, { kind: 'invalid' }>
  /** The address as it is stored: an upload always as `/uploads/<number>`, whatever base address the client used. */
  stored: string
}

/** Other addresses of the service are uploads only if they begin like this. */
const UPLOAD = /^\/uploads\/\d+$/

/**
 * `providers`: of the job's sources, whose addresses captions may have too. `baseUrl`: of the service; null for an address
 * that was stored.
 */
export function parseCaptionAddress(
  providers: readonly (Provider | undefined)[],
  input: string,
  baseUrl: string | null,
): CaptionAddress | Extract<InputAddress, { kind: 'invalid' }> {
  const upload = baseUrl !== null || UPLOAD.test(input) ? parseInput('file-upload', input, baseUrl) : null
  if (upload?.kind === 'upload')
    return { provider: 'file-upload', address: upload, stored: `/uploads/${upload.number}` }
  const own = [...new Set(providers)].filter((each) => each !== undefined && each !== 'file-upload')
  let problem: Extract<InputAddress, { kind: 'invalid' }> | null = null
  for (const each of [...own, 'vendor-store', 'http'] as const) {
    const address = parseInput(each, input, baseUrl)
    if (address.kind !== 'invalid') return { provider: each, address, stored: input }
    // The sentence of the store whose scheme the address has.
    const isMeant = rulesOf(each).schemes.some((scheme) => input.toLowerCase().startsWith(`${scheme}://`))
    if (isMeant) problem ??= address
  }
  const forms = ['an http or https address', '/uploads/<uploaded_file_number>', 'vendor-store://out/…']
  forms.push(...own.flatMap((each) => (each === 'http' || each === 'vendor-store' ? [] : rulesOf(each).inputForm)))
  return problem ?? invalidAddress(`the address of a caption file has one of the forms ${forms.join(', ')}`)
}
