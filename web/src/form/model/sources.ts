// In charge of: the sources of the form as one list: uploads of this tab, earlier uploads, or one address. Pure.
import { lastPathSegment } from '#contract/job/paths/inputAddress.ts'
import type { ListedUpload } from '#contract/api/answers.ts'
import type { Transfer } from '../../transfers/store.ts'
import type { FormBody } from './formBody.ts'

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

export function sourcesOf(body: FormBody, chosen: readonly Chosen[], transfers: readonly Transfer[]): Source[] {
  if (!isUpload(body)) {
    const { input } = body
    return typeof input === 'string' && input !== ''
      ? [
          {
            key: `address:${JSON.stringify([input, body.cloud_credentials.input])}`,
            name: lastPathSegment(input),
            size: null,
            input,
            transfer: null,
          },
        ]
      : []
  }
  return chosen.flatMap((each): Source[] => {
    if ('upload' in each) {
      const { input, name, size } = each.upload
      return [{ key: `upload:${input}`, name, size, input, transfer: null }]
    }
    const transfer = transfers.find(({ id, order }) => id === each.transfer && order === null)
    if (!transfer) return []
    const { id, file, uploaded } = transfer
    return [{ key: `transfer:${id}`, name: file.name, size: file.size, input: uploaded?.input ?? null, transfer }]
  })
}
