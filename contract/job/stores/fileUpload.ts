// In charge of: the contract's rules for uploaded files as sources (2.1 input).
// Not in charge of: uploading (worker/uploads/receiveUpload.ts).
import { wrongForm, type InvalidAddress, type StoreRules } from './storeRules.ts'

export interface UploadAddress {
  kind: 'upload'
  number: number
}

const FORM = '{base_url}/uploads/<uploaded_file_number>, /uploads/<uploaded_file_number> or the bare number'

export const fileUpload: StoreRules<UploadAddress> = {
  labels: { input: 'Upload', output: '', settings: 'Upload' },
  schemes: [],
  root: { kind: 'bucket', elements: 1 },
  inputForm: FORM,
  outputForm: null,
  outputPathBytes: null,
  example: '12',
  members: [],
  parse(address, baseUrl) {
    const input = address.trim().replace(/\/$/, '')
    if (baseUrl === null) return numbered(/^(?:.*\/uploads\/)?(\d+)$/s.exec(input)?.[1])
    const base = splitAddress(baseUrl.replace(/(?<!\/)\/+$/, ''))
    const given = splitAddress(input)
    if (given.host !== '' && given.host !== base.host)
      return wrongForm('file-upload', `${FORM}, where {base_url} is ${baseUrl}`)
    const prefixes =
      given.host === '' ? ['/uploads/', 'uploads/', `${base.path}/uploads/`, ''] : [`${base.path}/uploads/`]
    for (const prefix of prefixes) {
      const found = numbered(given.path.startsWith(prefix) ? given.path.slice(prefix.length) : '')
      if (found.kind === 'upload') return found
    }
    return wrongForm('file-upload', FORM)
  },
}

function numbered(digits = ''): UploadAddress | InvalidAddress {
  const number = Number(digits)
  if (!/^[1-9]\d{0,15}$/.test(digits) || !Number.isSafeInteger(number)) return wrongForm('file-upload', FORM)
  return { kind: 'upload', number }
}

/**
 * Splits an address without its scheme: http and https are treated alike, because a proxy in front of the service may
 * terminate TLS.
 */
function splitAddress(address: string): { host: string; path: string } {
  const parts = /^https?:\/\/([^/]*)(.*)$/is.exec(address)
  return parts === null ? { host: '', path: address } : { host: parts[1]!.toLowerCase(), path: parts[2]! }
}
