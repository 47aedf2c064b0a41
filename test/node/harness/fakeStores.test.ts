// In charge of: checking our strict fake servers against the providers' own libraries: they accept what those send, and
// refuse what is wrong. So a client that the fakes accept is one that the provider accepts.
// Not in charge of: our stores (test/worker/storage).
import { randomBytes } from 'node:crypto'
import { JWT } from 'google-auth-library'
import { Region, SimpleAuthenticationDetailsProvider } from 'oci-common'
import { ObjectStorageClient } from 'oci-objectstorage'
import { describe, expect, test } from 'vitest'
import { readPem } from '#contract/job/storeKeys/pem.ts'
import { FakeGoogle } from '../../fakes/googleStorage.ts'
import type { RsaTestKey } from '../../fakes/rsaKeys.ts'
import { generateRsaKey } from '../../fakes/rsaKeys.ts'
import { FakeOracle } from '../../fakes/oracleStorage.ts'
import { FakeServer } from '../../fakes/httpServer.ts'
import { fetchFrom } from '../../fakes/fetchTransport.ts'

const keyPair = await generateRsaKey()
const otherKeyPair = await generateRsaKey()

describe("Oracle's SDK", () => {
  const tenancy = 'ocid1.tenancy.oc1..t'
  const user = 'ocid1.user.oc1..u'
  const place = { namespaceName: 'axaxnpcrorw5', bucketName: 'Films' }

  function fingerprintOf({ pem }: RsaTestKey): string {
    const read = readPem(pem)
    if (!read.ok) throw new Error(read.reason)
    return read.key.fingerprint
  }

  async function start() {
    const keys = new Map([[`${tenancy}/${user}/${fingerprintOf(keyPair)}`, keyPair.publicKey]])
    const options = { namespace: place.namespaceName, bucket: place.bucketName, host: '', keys }
    const fake = new FakeOracle(options)
    const server = await FakeServer.start(fake.handle)
    options.host = server.host
    return { fake, server }
  }

  function clientOf(server: FakeServer, key: RsaTestKey, fingerprint = fingerprintOf(keyPair)): ObjectStorageClient {
    const authenticationDetailsProvider = new SimpleAuthenticationDetailsProvider(
      tenancy,
      user,
      fingerprint,
      key.pem,
      null,
      Region.EU_FRANKFURT_1,
    )
    const client = new ObjectStorageClient({ authenticationDetailsProvider })
    client.endpoint = `http://${server.host}`
    return client
  }

  test('writes, reads, uploads in parts and deletes', async () => {
    const { fake, server } = await start()
    await using _ = server
    const client = clientOf(server, keyPair)
    const objectName = 'dir/a b+ü (1).mp4'
    const bytes = randomBytes(50_000)
    await client.putObject({ ...place, objectName, putObjectBody: bytes, contentLength: bytes.length })
    expect(Buffer.from(fake.objects.get(objectName)!.bytes).equals(bytes)).toBe(true)
    const head = await client.headObject({ ...place, objectName })
    expect([head.contentLength, head.eTag]).toEqual([bytes.length, fake.objects.get(objectName)!.etag])
    const details = { object: 'parts.mp4', contentType: 'video/mp4' }
    const made = await client.createMultipartUpload({ ...place, createMultipartUploadDetails: details })
    const { uploadId } = made.multipartUpload
    const upload = { ...place, objectName: 'parts.mp4', uploadId }
    const partsToCommit = []
    for (const partNum of [2, 1]) {
      const part = bytes.subarray((partNum - 1) * 25_000, partNum * 25_000)
      const sent = await client.uploadPart({
        ...upload,
        uploadPartNum: partNum,
        uploadPartBody: part,
        contentLength: 25_000,
      })
      partsToCommit.unshift({ partNum, etag: sent.eTag })
    }
    await client.commitMultipartUpload({ ...upload, commitMultipartUploadDetails: { partsToCommit } })
    expect(Buffer.from(fake.objects.get('parts.mp4')!.bytes).equals(bytes)).toBe(true)
    await expect(client.abortMultipartUpload(upload)).rejects.toMatchObject({ serviceCode: 'NoSuchUpload' })
    const objects = [{ objectName }, { objectName: 'parts.mp4' }]
    await client.batchDeleteObjects({ ...place, batchDeleteObjectsDetails: { objects, isSkipDeletedResult: true } })
    expect(fake.objects.size).toBe(0)
  })

  test.each([
    ['another private key', otherKeyPair, fingerprintOf(keyPair)],
    ['another fingerprint', keyPair, fingerprintOf(otherKeyPair)],
  ])('is refused with %s', async (_, key, fingerprint) => {
    const { server } = await start()
    await using __ = server
    const client = clientOf(server, key, fingerprint)
    await expect(client.headObject({ ...place, objectName: 'a' })).rejects.toMatchObject({ statusCode: 401 })
    const details = { object: 'a' }
    await expect(
      client.createMultipartUpload({ ...place, createMultipartUploadDetails: details }),
    ).rejects.toMatchObject({ serviceCode: 'NotAuthenticated' })
  })
})

describe("Google's library", () => {
  const email = 'a@p.iam.gserviceaccount.com'
  const fake = new FakeGoogle({ bucket: 'films', accounts: [{ email, keyId: 'kid1', publicKey: keyPair.publicKey }] })
  const tokenOf = async (key: RsaTestKey, scope = 'devstorage.read_write') => {
    const client = new JWT({
      email,
      key: key.pem,
      scopes: [`https://www.googleapis.com/auth/${scope}`],
      transporterOptions: { fetchImplementation: fetchFrom(fake.handle) as typeof fetch, retry: false },
    })
    return (await client.authorize()).access_token
  }

  test('gets a token, which the store accepts', async () => {
    const token = await tokenOf(keyPair)
    fake.store.put('films/a', randomBytes(10))
    const ask = (authorization: string) =>
      fetchFrom(fake.handle)('https://storage.googleapis.com/films/a', { headers: { authorization } })
    expect((await ask(`Bearer ${token}`)).status).toBe(200)
    expect((await ask(`Bearer ${token}x`)).status).toBe(401)
    expect((await ask('')).status).toBe(403)
  })

  test.each([
    ['another private key', otherKeyPair, undefined, 'invalid_grant'],
    ['a scope that is not for storage', keyPair, 'drive', 'invalid_scope'],
  ] as const)('is refused with %s', async (_, key, scope, error) => {
    await expect(tokenOf(key, scope)).rejects.toThrow(error)
  })
})
