import { describe, expect, it } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import { maskKey, redactAddress, redactCredentials } from '#contract/job/redact.ts'
import { expectAccepted, BASE_URL, fieldsAndCodes, expectRefused, request } from '../requestFixture.ts'

const PEM = '-----BEGIN PRIVATE KEY-----\nTOPSECRETPEM\n-----END PRIVATE KEY-----\n'

describe('redaction', () => {
  it.each([
    ['https://host/a/b.mp4', 'https://host/a/b.mp4'],
    ['https://host/a.mp4?X-Amz-Signature=TOPSECRET&b=2', 'https://host/a.mp4?…'],
    ['https://host?TOPSECRET', 'https://host?…'],
    ['https://host/a#access_token=TOPSECRET', 'https://host/a?…'],
    ['https://user:TOPSECRET@host:8443/a', 'https://host:8443/a'],
    ['https://user:TOP@SECRET@host/a@b?c@d', 'https://host/a@b?…'],
    ['ftp://TOPSECRET@host', 'ftp://host'],
    ['12', '12'],
  ])('of the address %s is %s', (address, redacted) => {
    expect(redactAddress(address)).toBe(redacted)
  })

  it.each([
    ['AKIAIOSFODNN7EXAMPLE', 'AKIA…MPLE'],
    ['123456789012', '1234…9012'],
    ['12345678901', '…'],
    ['a', '…'],
    ['', ''],
  ])('of the access key %s is %s', (key, masked) => {
    expect(maskKey(key)).toBe(masked)
  })

  it('of a credential hides secrets, masks the access key and keeps all other members', () => {
    expect(
      redactCredentials({
        cloud_provider: 'aws',
        access_key: 'AKIAIOSFODNN7EXAMPLE',
        secret_key: 'TOPSECRET',
        private_key: PEM,
        session_token: 'TOPSECRET',
        region: 'us-east-1',
        tenancy_ocid: null,
        client_email: 'a@b.example',
      }),
    ).toEqual({
      cloud_provider: 'aws',
      access_key: 'AKIA…MPLE',
      secret_key: null,
      private_key: null,
      session_token: null,
      region: 'us-east-1',
      tenancy_ocid: null,
      client_email: 'a@b.example',
    })
    expect(redactCredentials({ access_key: null })).toEqual({ access_key: null })
  })

  it('leaves no secret in config or warnings of an accepted job, and keeps every one in the secrets', () => {
    const input = {
      cloud_provider: 'http',
      access_key: 'USERNAME-TOPSECRET-USERNAME',
      secret_key: 'TOPSECRET1',
      private_key: PEM,
      password: 'TOPSECRET2',
      nested: { deep: ['TOPSECRET3'] },
    }
    const body = request({
      input: 'https://media.example/film.mp4?sig=TOPSECRET4',
      cloud_credentials: {
        input,
        output: { cloud_provider: 'vendor-store', secret_key: 'TOPSECRET5' },
        key: 'TOPSECRET6',
      },
      secret_key: 'TOPSECRET7',
      extra: { apiKey: 'TOPSECRET8', home: 'https://u:TOPSECRET9@h/?TOPSECRET' },
    })
    const { config, secrets, warnings } = expectAccepted(body)
    expect(JSON.stringify([config, warnings])).not.toContain('TOPSECRET')
    expect(config.input).toBe('https://media.example/film.mp4?…')
    expect(config.cloud_credentials.input).toEqual({
      cloud_provider: 'http',
      access_key: 'USER…NAME',
      secret_key: null,
      private_key: null,
    })
    expect(secrets).toEqual({
      input,
      output: { cloud_provider: 'vendor-store', secret_key: 'TOPSECRET5' },
      addresses: { input: 'https://media.example/film.mp4?sig=TOPSECRET4' },
    })
    expect(fieldsAndCodes(warnings)).toEqual([
      'unknown_field cloud_credentials.key',
      'unknown_field cloud_credentials.input.password',
      'unknown_field cloud_credentials.input.nested',
      'no_effect cloud_credentials.input.private_key',
      'no_effect cloud_credentials.output.secret_key',
      'unknown_field secret_key',
      'unknown_field extra',
    ])
  })

  it('leaves no secret in problems either', () => {
    const bodies = [
      request({ input: 'https://user:TOPSECRET@host/x', cloud_credentials: { input: { cloud_provider: 'http' } } }),
      request({ input: 'https:\\\\user:TOPSECRET@host/x', cloud_credentials: { input: { cloud_provider: 'http' } } }),
      request({ input: 'https:/user:TOPSECRET@host/x', cloud_credentials: { input: { cloud_provider: 'http' } } }),
      request({ input: 's3://b/k?TOPSECRET', cloud_credentials: { input: { cloud_provider: 'http' } } }),
      request({ logo_url: 'https://u:TOPSECRET@h/l.png', webhook_url: 'https://u:TOPSECRET@h/' }),
      request({ bucket_output_path: 'https://h/?TOPSECRET' }, { output: 's3://TOPSECRET@b/x' }),
      request({
        cloud_credentials: { input: { cloud_provider: 'TOPSECRET', secret_key: ['TOPSECRET'], region: PEM } },
      }),
      request({ cloud_credentials: { input: 'TOPSECRET', output: ['TOPSECRET'] } }),
      request({ cloud_credentials: 'TOPSECRET=' }),
      request({
        cloud_credentials: {
          input: {
            cloud_provider: 'aws',
            secret_key: 'TOPSECRET',
            session_token: 'TOPSECRET',
            endpoint: 'https://TOPSECRET',
          },
          output: { cloud_provider: 'gcloud', private_key: PEM, client_id: PEM },
        },
      }),
    ]
    for (const body of bodies) {
      const result = validateJob(body, { baseUrl: BASE_URL })
      expect(result.ok).toBe(false)
      expect(JSON.stringify(result)).not.toMatch(/TOPSECRET(?!=)/)
    }
  })

  it('refuses user info in an address', () => {
    const http = { cloud_credentials: { input: { cloud_provider: 'http' } } }
    expect(fieldsAndCodes(expectRefused(request({ ...http, input: 'https://user:pw@host/x' })))).toEqual([
      'user_info_in_address input',
    ])
  })
})

describe('an address as the service shows it is no address', () => {
  it.each([
    ['webhook_url', 'https://hooks.example/in?…', 'invalid_value'],
    ['webhook_url', 'HTTPS://hooks.example?…', 'invalid_value'],
    ['logo_url', 'https://media.example/logo.png?…', 'invalid_value'],
    ['input', 'https://media.example/film.mp4?…', 'invalid_input_address'],
  ])('%s %s is %s', (field, address, code) => {
    const cloud_credentials = { input: { cloud_provider: field === 'input' ? 'http' : 'file-upload' } }
    const [problem, ...more] = expectRefused(request({ [field]: address, cloud_credentials }))
    expect(more).toEqual([])
    expect(problem).toMatchObject({ code, field })
    expect(problem?.message).toContain('send the full address')
    expect(problem?.message.includes('leave it out')).toBe(field !== 'input')
  })

  it('in a path of an output, which has no query at all', () => {
    const changes = {
      bucket_output_path: 'https://store.example/a?…',
      cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'http' } },
    }
    expect(expectRefused(request(changes)).map(({ field }) => field)).toContain('bucket_output_path')
  })

  it('but a query that has those characters, a fragment, and an object of a store are what they are', () => {
    for (const webhook_url of ['https://h.example/in?…=1', 'https://h.example/in?a=1?%E2%80%A6']) {
      expect(expectAccepted(request({ webhook_url })).secrets.addresses.webhook_url).toBe(webhook_url)
    }
    const cloud_credentials = { input: { cloud_provider: 'aws', access_key: 'a', secret_key: 'b' } }
    expect(expectAccepted(request({ input: 's3://films/what?…', cloud_credentials })).config.input).toBe(
      's3://films/what?…',
    )
  })
})
