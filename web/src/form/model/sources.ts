// In charge of: the sources of the form as one list: uploads of this tab, earlier uploads, or one address. Pure.
import { lastPathSegment } from '#contract/job/paths/inputAddress.ts'
import type { ListedUpload } from '#contract/api/answers.ts'
import type { Transfer } from '../../transfers/store.ts'
import type { FormBody, JobFields } from './formBody.ts'

/** The chosen item; the rest is looked up. */
export type Chosen = { transfer: number } | { upload: Pick<ListedUpload, 'input' | 'name' | 'size'> }

export interface Source {
  key: string
  name: string
  /** Bytes; null = unknown. */
  size: number | null
  /** null until it is stored. */
  input: string | null
  transfer: Transfer | null
}

export const isUpload = ({ cloud_credentials: { input } }: FormBody): boolean =>
  input['cloud_provider'] === 'file-upload'

/** The keys of the chosen items; the same upload may be chosen twice. */
export function keysOf(chosen: readonly Chosen[]): string[] {
  const seen = new Map<string, number>()
  return chosen.map((each) => {
    const name = 'upload' in each ? `upload:${each.upload.input}` : `transfer:${each.transfer}`
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name}:${count}`
  })
}

export function sourcesOf(body: FormBody, chosen: readonly Chosen[], transfers: readonly Transfer[]): Source[] {
  if (!isUpload(body)) {
    const inputs = Array.isArray(body['inputs']) ? (body['inputs'] as JobFields[]) : [{ input: body['input'] }]
    return inputs.flatMap(({ input }, index): Source[] =>
      typeof input === 'string' && input !== ''
        ? [
            {
              key: `address:${JSON.stringify([input, body.cloud_credentials.input, ...(index === 0 ? [] : [index])])}`,
              name: lastPathSegment(input),
              size: null,
              input,
              transfer: null,
            },
          ]
        : [],
    )
  }
  const keys = keysOf(chosen)
  return chosen.flatMap((each, index): Source[] => {
    const key = keys[index]!
    if ('upload' in each) {
      const { input, name, size } = each.upload
      return [{ key, name, size, input, transfer: null }]
    }
    const transfer = transfers.find(({ id, order }) => id === each.transfer && order === null)
    if (!transfer) return []
    const { file, uploaded } = transfer
    return [{ key, name: file.name, size: file.size, input: uploaded?.input ?? null, transfer }]
  })
}
