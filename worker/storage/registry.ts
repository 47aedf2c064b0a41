// In charge of: the stores that jobs may read and write, by provider name. A new store is a folder and a line here.
// Not in charge of: a job's input and output, unsealing credentials (both jobStores.ts).
import type { AddressOf, Provider } from '#contract/job/stores/registry.ts'
import { googleProvider } from './google/provider.ts'
import { httpProvider } from './http/provider.ts'
import { oracleProvider } from './oracle/provider.ts'
import type { SinkRequest, SourceRequest, StoreProvider } from './provider.ts'
import { ownProvider, uploadProvider } from './r2/provider.ts'
import { s3Provider } from './s3/provider.ts'
import { StoreError, type Sink, type Source } from './objectStore.ts'

const providers: { readonly [P in Provider]: StoreProvider<AddressOf<P>> } = {
  aws: s3Provider,
  oracle: oracleProvider,
  gcloud: googleProvider,
  http: httpProvider,
  'file-upload': uploadProvider,
  'vendor-store': ownProvider,
}

/** @throws StoreError */
export async function openSource<P extends Provider>(
  env: Env,
  provider: P,
  request: SourceRequest<AddressOf<P>>,
): Promise<Source> {
  return providers[provider].openSource(env, request)
}

/** @throws StoreError */
export function openSink<P extends Provider>(env: Env, provider: P, request: SinkRequest<AddressOf<P>>): Sink {
  const { openSink: open } = providers[provider]
  if (open === null) throw new StoreError('invalid', provider, 'open', 'This kind of output is not available.')
  return open(env, request)
}
