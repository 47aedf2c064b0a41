// In charge of: the list of stores, and parsing their addresses. A new store needs a file in this folder and a line
// here.
// Not in charge of: credentials (credentialChecks.ts), reading and writing (worker/storage/registry.ts).
import { aws } from './aws.ts'
import { fileUpload } from './fileUpload.ts'
import { gcloud } from './gcloud.ts'
import { http } from './http.ts'
import { oracle } from './oracle.ts'
import type { InvalidAddress, StoreRules } from './storeRules.ts'
import { vendorStore } from './vendorStore.ts'

/** In the order of the documentation (2.3). */
export const storeRules = {
  aws,
  oracle,
  gcloud,
  http,
  'file-upload': fileUpload,
  'vendor-store': vendorStore,
}

export type Provider = keyof typeof storeRules
export const PROVIDERS = Object.keys(storeRules) as [Provider, ...Provider[]]

type AddressIn<Rules> = Rules extends StoreRules<infer Address> ? Address : never
/** The parsed address of an object in a store of that kind. */
export type AddressOf<P extends Provider> = AddressIn<(typeof storeRules)[P]>
export type InputAddress = AddressOf<Provider> | InvalidAddress

export function rulesOf(provider: Provider): StoreRules<AddressOf<Provider>> {
  return storeRules[provider]
}

/** The stores that accept outputs. */
export const OUTPUT_PROVIDERS: readonly Provider[] = PROVIDERS.filter(
  (provider) => rulesOf(provider).outputPathBytes !== null,
)

/** Parses `input` in the provider's form. Anything else is `invalid`, with a sentence that shows the form. */
export function parseInput(provider: Provider, input: string, baseUrl: string | null): InputAddress {
  return rulesOf(provider).parse(input, baseUrl)
}

/** The bucket or the host of an output's address. The key in the result is a placeholder. */
export function parseRoot(provider: Provider, root: string): InputAddress {
  return parseInput(provider, `${root}/x`, null)
}

/** The provider whose addresses have this scheme; null = none. */
export function providerOfScheme(scheme: string): Provider | null {
  return PROVIDERS.find((provider) => rulesOf(provider).schemes.includes(scheme)) ?? null
}
