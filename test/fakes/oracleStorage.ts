// In charge of: a strict in-memory Object Storage API of Oracle: it checks what the real one checks (signature and what
// it covers, clock, host, body hash, part rules, conditions, ranges) and returns the same errors. Checked against
// Oracle's own SDK by test/node/harness/fakeStores.test.ts.
// Not in charge of: HTTP transport (fetchTransport.ts, httpServer.ts).
import { createHash, randomUUID, type webcrypto } from 'node:crypto'
import { readObject, Refused, type FakeAnswer, type FakeRequest, type StoredObject } from './objectServer.ts'

export interface FakeOracleOptions {
  namespace: string
  bucket: string
  host: string
  /** By key id: tenancy/user/fingerprint. */
  keys: ReadonlyMap<string, webcrypto.CryptoKey>
  now?: () => number
  minPartBytes?: number
  /** Without batchDeleteObjects. */
  noBatch?: boolean
  /** Operations that the user is not allowed to call. */
  denied?: readonly string[]
}

interface Upload {
  object: string
  type: string
  cache: string | undefined
  parts: Map<number, StoredObject>
}

const READ_ERRORS = { missing: 'ObjectNotFound', condition: 'IfMatchFailed' }
const SKEW_MS = 5 * 60_000

export class FakeOracle {
  readonly options: FakeOracleOptions
  readonly objects = new Map<string, StoredObject>()
  readonly uploads = new Map<string, Upload>()
  /** Every request that passed the checks, as `PutObject key`. */
  readonly log: string[] = []
  /** Number of announced bytes that answers to GetObject leave out. */
  missingBytes = 0
  fault: (operation: string) => { status: number; code: string } | null = () => null
  constructor(options: FakeOracleOptions) {
    this.options = options
  }

  put(key: string, bytes: Uint8Array, type = 'application/octet-stream', cache?: string): void {
    this.objects.set(key, { bytes, type, cache, etag: randomUUID() })
  }

  readonly handle = async (request: FakeRequest): Promise<FakeAnswer> => {
    const date = new Date((this.options.now ?? Date.now)()).toUTCString()
    try {
      await this.#authenticate(request)
      const answer = this.#answer(request)
      return { ...answer, headers: { date, ...answer.headers } }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { code, status } = error
      // The real API echoes names and dates in its errors; none of that may reach our own messages.
      const message = `${code}; you sent ${request.headers.get('authorization')}`
      const body = request.method === 'HEAD' ? '' : JSON.stringify({ code, message })
      return { status, headers: { date, 'content-type': 'application/json' }, body }
    }
  }

  async #authenticate({ method, target, headers, body }: FakeRequest): Promise<void> {
    const unauthenticated = new Refused(401, 'NotAuthenticated')
    const claim = headers.get('authorization') ?? ''
    const parameters = Object.fromEntries(
      [...claim.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    )
    const key = this.options.keys.get(parameters['keyId'] ?? '')
    if (!claim.startsWith('Signature version="1",') || parameters['algorithm'] !== 'rsa-sha256' || !key)
      throw unauthenticated
    // Names are compared in lower case: Oracle's own SDK capitalizes some.
    const covered: string[] = (parameters['headers'] ?? '').toLowerCase().split(' ')
    const dateName = covered.includes('x-date') ? 'x-date' : 'date'
    const required = ['(request-target)', 'host', dateName]
    // "For POST and PUT"; PutObject and UploadPart are exempt.
    if (method === 'POST') required.push('content-length', 'content-type', 'x-content-sha256')
    if (required.some((name) => !covered.includes(name))) throw unauthenticated
    const lines = covered.map((name: string) =>
      name === '(request-target)' ? `${name}: ${method.toLowerCase()} ${target}` : `${name}: ${headers.get(name)}`,
    )
    const signature = Buffer.from(parameters['signature'] ?? '', 'base64')
    const text = new TextEncoder().encode(lines.join('\n'))
    if (!(await crypto.subtle.verify('RSASSA-PKCS1-v1_5', key, signature, text))) throw unauthenticated
    const date = Date.parse(headers.get(dateName) ?? '')
    if (!(Math.abs((this.options.now ?? Date.now)() - date) <= SKEW_MS)) throw unauthenticated
    if (headers.get('host') !== this.options.host) throw unauthenticated
    if (covered.includes('content-length') && Number(headers.get('content-length')) !== body.length)
      throw unauthenticated
    const hash = headers.get('x-content-sha256')
    if (hash !== undefined && hash !== createHash('sha256').update(body).digest('base64')) {
      throw new Refused(400, 'ContentSha256Mismatch')
    }
  }

  #answer(request: FakeRequest): FakeAnswer {
    const [path = '', search = ''] = request.target.split('?')
    const query = new URLSearchParams(search)
    const found = /^\/n\/([^/]+)\/b\/([^/]+)\/(o|u|actions)(?:\/([^/]+))?$/.exec(path)
    if (!found) throw new Refused(404, 'NotAuthorizedOrNotFound')
    const [, namespace, bucket, kind, last] = found
    const name = last === undefined ? '' : decodeURIComponent(last)
    const operation = operationOf(request.method, kind!, name)
    this.log.push(`${operation} ${name}`)
    if (namespace !== this.options.namespace) throw new Refused(404, 'NamespaceNotFound')
    if (bucket !== this.options.bucket) throw new Refused(404, 'BucketNotFound')
    if (this.options.denied?.includes(operation)) throw new Refused(404, 'NotAuthorizedOrNotFound')
    const fault = this.fault(operation)
    if (fault) throw new Refused(fault.status, fault.code)
    return this.#do(operation, name, query, request)
  }

  #do(operation: string, name: string, query: URLSearchParams, request: FakeRequest): FakeAnswer {
    const { headers, body } = request
    const done: FakeAnswer = { status: 204, headers: {}, body: '' }
    switch (operation) {
      case 'GetObject':
      case 'HeadObject':
        return readObject(this.objects.get(name), request, READ_ERRORS, this.missingBytes)
      case 'PutObject': {
        if (headers.get('content-length') === undefined) throw new Refused(411, 'LengthRequired')
        this.put(name, body, headers.get('content-type'), headers.get('cache-control'))
        return { status: 200, headers: { etag: this.objects.get(name)!.etag }, body: '' }
      }
      case 'DeleteObject':
        if (!this.objects.delete(name)) throw new Refused(404, 'ObjectNotFound')
        return done
      case 'batchDeleteObjects':
        return this.#deleteMany(body)
      case 'CreateMultipartUpload': {
        const details = JSON.parse(new TextDecoder().decode(body)) as Record<string, string>
        const { object, contentType, cacheControl: cache } = details
        if (!object) throw new Refused(400, 'InvalidParameter')
        const uploadId = randomUUID()
        this.uploads.set(uploadId, { object, type: contentType ?? 'application/octet-stream', cache, parts: new Map() })
        return json({ namespace: this.options.namespace, bucket: this.options.bucket, object, uploadId })
      }
      case 'UploadPart': {
        if (headers.get('content-length') === undefined) throw new Refused(411, 'LengthRequired')
        const n = Number(query.get('uploadPartNum'))
        if (!(Number.isInteger(n) && n >= 1 && n <= 10_000)) throw new Refused(400, 'InvalidUploadPart')
        const part = { bytes: body, type: '', etag: randomUUID() }
        this.#upload(name, query).parts.set(n, part)
        return { status: 200, headers: { etag: part.etag }, body: '' }
      }
      case 'AbortMultipartUpload':
        this.#upload(name, query)
        this.uploads.delete(query.get('uploadId')!)
        return done
      case 'CommitMultipartUpload':
        return this.#commit(name, this.#upload(name, query), query.get('uploadId')!, body)
      default:
        throw new Refused(405, 'MethodNotAllowed')
    }
  }

  #upload(object: string, query: URLSearchParams): Upload {
    const upload = this.uploads.get(query.get('uploadId') ?? '')
    if (upload?.object !== object) throw new Refused(404, 'NoSuchUpload')
    return upload
  }

  #deleteMany(body: Uint8Array): FakeAnswer {
    if (this.options.noBatch) throw new Refused(404, 'NotAuthorizedOrNotFound')
    const { objects } = JSON.parse(new TextDecoder().decode(body)) as { objects: { objectName: string }[] }
    if (objects.length === 0 || objects.length > 1000) throw new Refused(400, 'InvalidParameter')
    const gone = objects.filter(({ objectName }) => !this.objects.delete(objectName))
    const failed = gone.map(({ objectName }) => ({ objectName, statusCode: 404, errorMessage: 'ObjectNotFound' }))
    return json({ deleted: [], failed })
  }

  #commit(name: string, upload: Upload, id: string, body: Uint8Array): FakeAnswer {
    const { partsToCommit } = JSON.parse(new TextDecoder().decode(body)) as {
      partsToCommit: { partNum: number; etag: string }[]
    }
    const parts = partsToCommit.map(({ partNum, etag }) => {
      const part = upload.parts.get(partNum)
      if (!part || part.etag !== etag) throw new Refused(400, 'InvalidUploadPart')
      return part
    })
    const numbers = new Set(partsToCommit.map(({ partNum }) => partNum))
    if (parts.length === 0 || numbers.size !== parts.length) throw new Refused(400, 'InvalidUploadPart')
    const short = parts.slice(0, -1).some(({ bytes }) => bytes.length < (this.options.minPartBytes ?? 0))
    if (short) throw new Refused(400, 'InvalidUploadPart')
    this.put(name, Buffer.concat(parts.map(({ bytes }) => bytes)), upload.type, upload.cache)
    this.uploads.delete(id)
    return { status: 200, headers: { etag: this.objects.get(name)!.etag }, body: '' }
  }
}

function operationOf(method: string, kind: string, name: string): string {
  if (kind === 'actions') return name
  const names: Record<string, string> =
    kind === 'o'
      ? { GET: 'GetObject', HEAD: 'HeadObject', PUT: 'PutObject', DELETE: 'DeleteObject' }
      : {
          POST: name === '' ? 'CreateMultipartUpload' : 'CommitMultipartUpload',
          PUT: 'UploadPart',
          DELETE: 'AbortMultipartUpload',
        }
  return names[method] ?? method
}

function json(value: unknown): FakeAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}
