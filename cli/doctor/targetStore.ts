// In charge of: a store that the deployment should write to: its address as a person gives it, its keys from the
// environment, verifying what a job wrote there, and removing it.
// Not in charge of: the job (testJobs.ts). Google and Oracle are tested through their S3-compatible addresses.
import { createHash } from 'node:crypto'
import { AwsClient } from 'aws4fetch'
import type { PublicOutput } from '#contract/api/status.ts'
import { describeError } from '../../client/serviceRequest.ts'
import type { Credential } from '../../client/jobRequest.ts'
import { awsCredential } from '../awsEnvironment.ts'
import { UsageError } from '../cliErrors.ts'

export interface TargetStore {
  /** As it was given; for the report. */
  name: string
  /** `s3://bucket/prefix/<name of this run>`. */
  outputPath: string
  /** The credentials in the job. */
  credentials: Credential
  /** @returns what is wrong, or null */
  verify: (outputs: readonly PublicOutput[]) => Promise<string | null>
  remove: (outputs: readonly PublicOutput[]) => Promise<void>
}

/** @throws UsageError */
export function parseTargetStore(address: string, run: string, env: NodeJS.ProcessEnv): TargetStore {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/?$/.exec(address) ?? []
  if (bucket === undefined) {
    throw new UsageError(
      `--store ${address}: write s3://bucket/prefix. (For Google and Oracle, set AWS_ENDPOINT_URL to their S3-compatible address.)`,
    )
  }
  const credentials = awsCredential(env)
  if (credentials === null)
    throw new UsageError('--store needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.')
  const { region, endpoint = '', session_token: sessionToken } = credentials
  const client = new AwsClient({
    accessKeyId: credentials.access_key,
    secretAccessKey: credentials.secret_key,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    region,
    service: 's3',
    retries: 2,
  })
  /** The request URL of an object, from its location `s3://bucket/key`. */
  const addressOf = (location: string): string => {
    const key = location.slice(`s3://${bucket}/`.length).split('/').map(encodeURIComponent).join('/')
    if (endpoint !== '') return `${endpoint}/${bucket}/${key}`
    return bucket.includes('.')
      ? `https://s3.${region}.amazonaws.com/${bucket}/${key}`
      : `https://${bucket}.s3.${region}.amazonaws.com/${key}`
  }
  const ask = async (method: string, { location, path }: PublicOutput): Promise<Response> => {
    const response = await client.fetch(addressOf(location), { method }).catch((error: unknown) => {
      throw new Error(`${path} could not be requested from the store: ${describeError(error)}`)
    })
    if (!response.ok) throw new Error(`the store answers ${response.status} to ${method} ${path}`)
    return response
  }
  return {
    name: `store s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`,
    outputPath: ['s3:/', bucket, ...(prefix === '' ? [] : [prefix]), run].join('/'),
    credentials,
    async verify(outputs) {
      for (const output of outputs) {
        const body = Buffer.from(await (await ask('GET', output)).arrayBuffer())
        if (body.length !== output.size)
          return `${output.path} has ${body.length} bytes in the store instead of ${output.size}.`
        if (createHash('sha256').update(body).digest('hex') !== output.sha256)
          return `${output.path} is damaged in the store (SHA-256).`
      }
      return null
    },
    async remove(outputs) {
      for (const output of outputs) await (await ask('DELETE', output)).body?.cancel()
    },
  }
}
