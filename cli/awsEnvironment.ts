// In charge of: the keys of an S3 store from the environment variables that its own tools read.

export interface AwsCredential {
  cloud_provider: 'aws'
  access_key: string
  secret_key: string
  region: string
  session_token?: string
  endpoint?: string
}

/** null = the environment has no keys. */
export function awsCredential(env: NodeJS.ProcessEnv): AwsCredential | null {
  const [accessKey, secretKey] = [env['AWS_ACCESS_KEY_ID'] ?? '', env['AWS_SECRET_ACCESS_KEY'] ?? '']
  if (accessKey === '' || secretKey === '') return null
  const sessionToken = env['AWS_SESSION_TOKEN'] ?? ''
  const endpoint = (env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || '').replace(/(?<!\/)\/+$/, '')
  return {
    cloud_provider: 'aws',
    access_key: accessKey,
    secret_key: secretKey,
    region: env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1',
    ...(sessionToken === '' ? {} : { session_token: sessionToken }),
    ...(endpoint === '' ? {} : { endpoint }),
  }
}
