// In charge of: a strict S3 in memory: it checks what the real one checks (signature, clock, scope, body hash, part
// rules, conditions, ranges) and returns the same errors. The conformance suite of all stores runs against it and, if
// available, against a real server, which verifies this one.
// Not in charge of: HTTP over a socket (s3Server.ts).
import { createHash } from 'node:crypto'
import { fetchFrom } from './fetchTransport.ts'
import { readObject, Refused, type FakeAnswer, type FakeRequest, type StoredObject } from './objectServer.ts'
import { parseAuthorization, expectedSignature, parsePresignedQuery } from './sigV4Check.ts'

export interface S3Account {
  accessKey: string
  secretKey: string
  /** Of temporary credentials; `expired` after their expiry. */
  token?: string
  expired?: boolean
  /** Operations that it is not allowed to call, by the names of `FaultInjector`. */
  denied?: readonly string[]
}

export interface FakeS3Options {
  accounts: S3Account[]
  region?: string
  buckets: string[]
  /** R2: all parts but the last have the same size. */
  equalParts?: boolean
  minPartBytes?: number
  /** Without `POST ?delete`. */
  noMultiDelete?: boolean
  now?: () => number
  /** Keeps the sizes and ETags of parts, but no bytes: for objects larger than memory. */
  discard?: boolean
  /** Called with every accepted part and its number. */
  onPart?: (n: number, bytes: Uint8Array) => void
  /** Total bytes that all objects may have. */
  quota?: number
  /**
   * Answers as Ceph's RADOS Gateway does (16.2): no ETag in the answer to CompleteMultipartUpload, which a repeated
   * request gets too; errors without a message; any region; its own format of upload and request ids. It knows no
   * checksums but MD5: what newer clients add to their requests (`x-amz-checksum-…`, trailers) is refused here, where
   * RGW would ignore it.
   */
  rgw?: boolean
  /** Another authentication than a signature: null = none present, undefined = invalid. */
  authenticate?: (request: FakeRequest) => S3Account | null | undefined
}

/** Name of the operation, as in its permission: GetObject, PutObject, … */
export type FaultInjector = (
  operation: string,
  key: string,
) => { status: number; code: string; headers?: Record<string, string> } | null

interface Upload {
  key: string
  bucket: string
  type: string
  cache: string | undefined
  parts: Map<number, StoredObject>
}

const SKEW_MS = 15 * 60_000
const RGW_REQUEST = 'tx00000000000000000002a-0065f2c1d3-1d3f-default'

const timeOf = (date: string): number =>
  Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))

export class FakeS3 {
  readonly options: FakeS3Options
  readonly objects = new Map<string, StoredObject>()
  readonly uploads = new Map<string, Upload>()
  /** Every request that passed the checks, as `PutObject bucket/key`. */
  readonly log: string[] = []
  /** Targets of the requests that were refused. */
  readonly refused: string[] = []
  fault: FaultInjector = () => null
  /** Replaces an answer after the operation was executed. CompleteMultipartUpload can be 200 with an error inside. */
  alterAnswer: (operation: string, answer: FakeAnswer) => FakeAnswer = (_, answer) => answer
  #number = 0
  /** Upload id → the object that it was completed to. */
  readonly #completed = new Map<string, string>()
  constructor(options: FakeS3Options) {
    this.options = options
  }

  put(path: string, bytes: Uint8Array, type = 'application/octet-stream'): void {
    this.objects.set(path, { bytes, etag: tag(bytes), type })
  }

  /** An object whose content is a file on disk. */
  putFile(path: string, file: string, size: number, type: string): void {
    this.objects.set(path, { bytes: new Uint8Array(0), size, file, etag: `"${size}"`, type })
  }

  handle(request: FakeRequest): FakeAnswer {
    try {
      return this.#answer(request)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.refused.push(`${request.method} ${request.target}`)
      const text = this.options.rgw
        ? `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${error.code}</Code><BucketName>${this.options.buckets[0]}</BucketName><RequestId>${RGW_REQUEST}</RequestId><HostId>1d3f-default-default</HostId></Error>`
        : `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${error.code}</Code><Message>${error.code}; you sent ${escape(request.headers.get('authorization') ?? '')}</Message>${error.more}<RequestId>4442587FB7D0A2F9</RequestId></Error>`
      return {
        status: error.status,
        headers: { 'content-type': 'application/xml' },
        body: request.method === 'HEAD' ? '' : text,
      }
    }
  }

  /** A fetch function within the process, without a socket. */
  readonly fetch = fetchFrom((request) => this.handle(request))

  #authenticate(request: FakeRequest): S3Account {
    const { headers } = request
    const other = this.options.authenticate?.(request)
    if (this.options.authenticate && other === undefined) throw new Refused(401, 'AuthenticationRequired')
    if (other) return other
    const presigned = headers.has('authorization') ? null : parsePresignedQuery(request)
    if (presigned) return this.#presigned(presigned)
    const claim = parseAuthorization(headers.get('authorization') ?? '')
    if (!claim) throw new Refused(403, 'AccessDenied')
    const account = this.options.accounts.find(({ accessKey }) => accessKey === claim.accessKey)
    if (!account) throw new Refused(403, 'InvalidAccessKeyId', `<AWSAccessKeyId>${claim.accessKey}</AWSAccessKeyId>`)
    const token = headers.get('x-amz-security-token')
    if (token !== account.token) throw new Refused(400, 'InvalidToken')
    // RGW accepts a signature for any region.
    const region = this.options.rgw ? claim.region : (this.options.region ?? 'us-east-1')
    if (claim.region !== region || claim.service !== 's3') {
      throw new Refused(400, 'AuthorizationHeaderMalformed', `<Region>${region}</Region>`)
    }
    const date = headers.get('x-amz-date') ?? ''
    const at = timeOf(date)
    if (Number.isNaN(at) || !date.startsWith(claim.date)) throw new Refused(403, 'AccessDenied')
    const now = (this.options.now ?? Date.now)()
    if (Math.abs(now - at) > SKEW_MS) {
      throw new Refused(403, 'RequestTimeTooSkewed', `<ServerTime>${new Date(now).toISOString()}</ServerTime>`)
    }
    const covered = [...headers.keys()].filter(
      (name) => name.startsWith('x-amz-') || name === 'host' || name === 'content-md5',
    )
    if (covered.some((name) => !claim.signedHeaders.includes(name))) throw new Refused(403, 'AccessDenied')
    if (expectedSignature(request, claim, account.secretKey) !== claim.signature) {
      throw new Refused(403, 'SignatureDoesNotMatch', `<StringToSign>${escape(request.target)}</StringToSign>`)
    }
    const hash = headers.get('x-amz-content-sha256') ?? ''
    if (hash !== 'UNSIGNED-PAYLOAD' && hash !== createHash('sha256').update(request.body).digest('hex')) {
      throw new Refused(400, 'XAmzContentSHA256Mismatch')
    }
    if (account.expired) throw new Refused(400, 'ExpiredToken')
    return account
  }

  #presigned({ claim, request, date, seconds }: NonNullable<ReturnType<typeof parsePresignedQuery>>): S3Account {
    const account = this.options.accounts.find(({ accessKey }) => accessKey === claim.accessKey)
    if (!account || account.token !== undefined) throw new Refused(403, 'InvalidAccessKeyId')
    const region = this.options.rgw ? claim.region : (this.options.region ?? 'us-east-1')
    if (claim.region !== region || claim.service !== 's3' || !date.startsWith(claim.date))
      throw new Refused(400, 'AuthorizationQueryParametersError')
    const at = timeOf(date)
    const now = (this.options.now ?? Date.now)()
    if (!(seconds >= 1 && seconds <= 604_800)) throw new Refused(400, 'AuthorizationQueryParametersError')
    if (!(at - SKEW_MS <= now && now <= at + seconds * 1000)) throw new Refused(403, 'AccessDenied')
    if (!claim.signedHeaders.includes('host')) throw new Refused(403, 'AccessDenied')
    if (expectedSignature(request, claim, account.secretKey) !== claim.signature)
      throw new Refused(403, 'SignatureDoesNotMatch')
    return account
  }

  #answer(request: FakeRequest): FakeAnswer {
    const account = this.#authenticate(request)
    const { operation, bucket, key, query } = this.#named(request)
    const newer = [...request.headers].some(
      ([name, value]) =>
        /^x-amz-(checksum-|sdk-checksum|trailer)/.test(name) ||
        (name === 'x-amz-content-sha256' && value.startsWith('STREAMING-')),
    )
    if (this.options.rgw && newer) throw new Refused(400, 'InvalidArgument')
    this.log.push(`${operation} ${bucket}/${key}`)
    const fault = this.fault(operation, key)
    if (fault) {
      const text = `<Error><Code>${fault.code}</Code><Message>${fault.code}</Message></Error>`
      return { status: fault.status, headers: fault.headers ?? {}, body: request.method === 'HEAD' ? '' : text }
    }
    if (!this.options.buckets.includes(bucket)) throw new Refused(404, 'NoSuchBucket')
    if (account.denied?.includes(operation)) throw new Refused(403, 'AccessDenied')
    return this.alterAnswer(operation, this.#do(operation, bucket, key, query, request))
  }

  /** A request as it appears in `log`. */
  requestLine(request: Pick<FakeRequest, 'method' | 'target' | 'headers'>): string {
    const { operation, bucket, key } = this.#named(request)
    return `${operation} ${bucket}/${key}`
  }

  #named(request: Pick<FakeRequest, 'method' | 'target' | 'headers'>): {
    operation: string
    bucket: string
    key: string
    query: Map<string, string>
  } {
    const [path = '', search = ''] = request.target.split('?')
    const query = new Map(
      search
        .split('&')
        .filter((pair) => pair !== '')
        .map((pair) => pair.split('=').map((part) => decodeURIComponent(part)) as [string, string]),
    )
    const host = request.headers.get('host') ?? ''
    const virtual = this.options.buckets.find((name) => host.startsWith(`${name}.s3.`))
    const full = virtual === undefined ? path.slice(1) : `${virtual}${path}`
    const slash = full.indexOf('/')
    const bucket = decodeURIComponent(slash < 0 ? full : full.slice(0, slash))
    const key = decodeURIComponent(slash < 0 ? '' : full.slice(slash + 1))
    return { operation: operationOf(request.method, key, query), bucket, key, query }
  }

  #do(operation: string, bucket: string, key: string, query: Map<string, string>, request: FakeRequest): FakeAnswer {
    const path = `${bucket}/${key}`
    const { headers, body } = request
    switch (operation) {
      case 'GetObject':
      case 'HeadObject':
        return readObject(this.objects.get(path), request, { missing: 'NoSuchKey', condition: 'PreconditionFailed' })
      case 'PutObject': {
        const there = this.objects.get(path)
        const match = headers.get('if-match')
        if (headers.get('if-none-match') === '*' && there) throw new Refused(412, 'PreconditionFailed')
        if (match !== undefined && match !== there?.etag) throw new Refused(412, 'PreconditionFailed')
        this.#mayHold(body.length)
        const made = {
          bytes: body,
          etag: tag(body),
          type: headers.get('content-type') ?? 'binary/octet-stream',
          cache: headers.get('cache-control'),
        }
        this.objects.set(path, made)
        return { status: 200, headers: { etag: made.etag }, body: '' }
      }
      case 'DeleteObject':
        this.objects.delete(path)
        return { status: 204, headers: {}, body: '' }
      case 'DeleteObjects':
        return this.#deleteMany(bucket, headers.get('content-md5'), body)
      case 'CreateMultipartUpload': {
        const id = this.options.rgw
          ? `2~${createHash('sha256')
              .update(String(++this.#number))
              .digest('base64url')
              .slice(0, 31)}`
          : `up/${++this.#number}+load=${'x'.repeat(20)}`
        this.uploads.set(id, {
          key,
          bucket,
          type: headers.get('content-type') ?? '',
          cache: headers.get('cache-control'),
          parts: new Map(),
        })
        return xml(
          'InitiateMultipartUploadResult',
          `<Bucket>${bucket}</Bucket><Key>${escape(key)}</Key><UploadId>${id}</UploadId>`,
        )
      }
      case 'UploadPart': {
        const upload = this.#upload(bucket, key, query)
        const n = Number(query.get('partNumber'))
        if (!(n >= 1 && n <= 10_000)) throw new Refused(400, 'InvalidArgument')
        this.#mayHold(body.length)
        this.options.onPart?.(n, body)
        const bytes = this.options.discard ? new Uint8Array(0) : body
        const part = { bytes, size: body.length, etag: tag(body), type: '' }
        upload.parts.set(n, part)
        return { status: 200, headers: { etag: part.etag }, body: '' }
      }
      case 'ListParts': {
        const upload = this.#upload(bucket, key, query)
        const list = [...upload.parts].map(
          ([n, { etag, bytes }]) =>
            `<Part><PartNumber>${n}</PartNumber><ETag>${escape(etag)}</ETag><Size>${bytes.length}</Size></Part>`,
        )
        return xml('ListPartsResult', list.join(''))
      }
      case 'AbortMultipartUpload':
        this.#upload(bucket, key, query)
        this.uploads.delete(query.get('uploadId')!)
        return { status: 204, headers: {}, body: '' }
      case 'CompleteMultipartUpload':
        if (this.options.rgw && this.#completed.get(query.get('uploadId') ?? '') === path)
          return this.#completedAs(path, '')
        return this.#complete(
          path,
          this.#upload(bucket, key, query),
          query.get('uploadId')!,
          new TextDecoder().decode(body),
        )
      default:
        throw new Refused(501, 'NotImplemented')
    }
  }

  #mayHold(more: number): void {
    const storedBytes = [...this.objects.values()].reduce((sum, { bytes }) => sum + bytes.length, 0)
    if (storedBytes + more > (this.options.quota ?? Number.POSITIVE_INFINITY)) throw new Refused(403, 'QuotaExceeded')
  }

  #upload(bucket: string, key: string, query: Map<string, string>): Upload {
    const upload = this.uploads.get(query.get('uploadId') ?? '')
    if (upload?.key !== key || upload.bucket !== bucket) throw new Refused(404, 'NoSuchUpload')
    return upload
  }

  #deleteMany(bucket: string, md5: string | undefined | null, body: Uint8Array): FakeAnswer {
    if (this.options.noMultiDelete) throw new Refused(501, 'NotImplemented')
    if (!md5) throw new Refused(400, 'MissingContentMD5')
    if (md5 !== createHash('md5').update(body).digest('base64')) throw new Refused(400, 'BadDigest')
    const keys = [...new TextDecoder().decode(body).matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => unescape(key!))
    if (keys.length === 0 || keys.length > 1000) throw new Refused(400, 'MalformedXML')
    for (const key of keys) this.objects.delete(`${bucket}/${key}`)
    return xml('DeleteResult', '')
  }

  #complete(path: string, upload: Upload, id: string, text: string): FakeAnswer {
    const named = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag>/g)]
    if (named.length === 0) throw new Refused(400, 'MalformedXML')
    const parts: StoredObject[] = []
    let before = 0
    for (const [, number, etag] of named) {
      const n = Number(number)
      if (n <= before) throw new Refused(400, 'InvalidPartOrder')
      before = n
      const part = upload.parts.get(n)
      if (part?.etag.replaceAll('"', '') !== unescape(etag!).replaceAll('"', '')) throw new Refused(400, 'InvalidPart')
      parts.push(part)
    }
    const whole = parts.slice(0, -1)
    if (whole.some((part) => sizeOf(part) < (this.options.minPartBytes ?? 5 * 1024 * 1024))) {
      throw new Refused(400, 'EntityTooSmall')
    }
    if (this.options.equalParts && whole.some((part) => sizeOf(part) !== sizeOf(whole[0]!))) {
      throw new Refused(400, 'InvalidPart')
    }
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.bytes.length, 0))
    let at = 0
    const hashes = createHash('md5')
    for (const part of parts) {
      bytes.set(part.bytes, at)
      at += part.bytes.length
      hashes.update(Buffer.from(part.etag.replaceAll('"', ''), 'hex'))
    }
    const etag = `"${hashes.digest('hex')}-${parts.length}"`
    const size = parts.reduce((sum, part) => sum + sizeOf(part), 0)
    this.objects.set(path, { bytes, size, etag, type: upload.type, cache: upload.cache })
    this.uploads.delete(id)
    this.#completed.set(id, path)
    return this.#completedAs(path, this.options.rgw ? '' : etag)
  }

  #completedAs(path: string, etag: string): FakeAnswer {
    return xml('CompleteMultipartUploadResult', `<Key>${escape(path)}</Key><ETag>${escape(etag)}</ETag>`)
  }
}

function operationOf(method: string, key: string, query: Map<string, string>): string {
  if (key === '') return method === 'POST' && query.has('delete') ? 'DeleteObjects' : `${method}Bucket`
  const upload = query.has('uploadId')
  const names: Record<string, string> = {
    GET: upload ? 'ListParts' : 'GetObject',
    HEAD: 'HeadObject',
    PUT: upload ? 'UploadPart' : 'PutObject',
    DELETE: upload ? 'AbortMultipartUpload' : 'DeleteObject',
    POST: upload ? 'CompleteMultipartUpload' : query.has('uploads') ? 'CreateMultipartUpload' : 'PostObject',
  }
  return names[method] ?? method
}

function xml(root: string, inner: string): FakeAnswer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${root}>`
  return { status: 200, headers: { 'content-type': 'application/xml' }, body }
}

function sizeOf({ size, bytes }: StoredObject): number {
  return size ?? bytes.length
}

function tag(bytes: Uint8Array): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function unescape(text: string): string {
  return text
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}
