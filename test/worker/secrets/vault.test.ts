import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { WrongBindingError, unseal, seal } from '../../../worker/secrets/vault.ts'

const old = 'a2V5LW9sZC0wMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA='
const fresh = 'a2V5LW5ldy0wMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA='
const withKeys = (VAULT_KEYS: string): Env => ({ ...env, VAULT_KEYS })
const value = { secret_key: 'canary' }

test('what is sealed opens again, and only for the same account, job and field', async () => {
  const sealed = await seal(env, 'a', 'job', 'secrets', value)
  expect(sealed).not.toContain('canary')
  expect(await unseal(env, 'a', 'job', 'secrets', sealed)).toEqual(value)
  for (const [account, job, field] of [
    ['b', 'job', 'secrets'],
    ['a', 'other', 'secrets'],
    ['a', 'job', 'webhook'],
  ] as const) {
    await expect(unseal(env, account, job, field, sealed)).rejects.toThrow()
  }
})

test('secrets sealed for addresses open for exactly these, in order', async () => {
  const addresses = ['http', 'https://a.test/film.mp4', 'aws', 's3://films']
  const sealed = await seal(env, 'a', 'job', 'secrets', value, addresses)
  expect(await unseal(env, 'a', 'job', 'secrets', sealed, addresses)).toEqual(value)
  for (const others of [
    [],
    addresses.slice(1),
    addresses.toReversed(),
    [...addresses, ''],
    ['http', 'https://b.test/film.mp4', 'aws', 's3://films'],
    ['http', 'https://a.test/film.mp4","aws', 's3://films'],
  ]) {
    await expect(unseal(env, 'a', 'job', 'secrets', sealed, others)).rejects.toBeInstanceOf(WrongBindingError)
  }
})

test('a changed byte does not open', async () => {
  const envelope = JSON.parse(await seal(env, 'a', 'job', 'secrets', value))
  for (const member of ['wrapped', 'sealed'] as const) {
    const bytes = Uint8Array.from(atob(envelope[member]), (char) => char.charCodeAt(0))
    bytes[bytes.length - 1]! ^= 1
    const changed = { ...envelope, [member]: btoa(String.fromCharCode(...bytes)) }
    await expect(unseal(env, 'a', 'job', 'secrets', JSON.stringify(changed))).rejects.toThrow()
  }
})

test('a rotated ring seals with its first key and still opens what an older one sealed', async () => {
  const before = await seal(withKeys(`k1:${old}`), 'a', 'job', 'secrets', value)
  const rotated = withKeys(`k2:${fresh},k1:${old}`)
  expect(await unseal(rotated, 'a', 'job', 'secrets', before)).toEqual(value)
  const after = await seal(rotated, 'a', 'job', 'secrets', value)
  expect(JSON.parse(after).kid).toBe('k2')
  await expect(unseal(withKeys(`k1:${old}`), 'a', 'job', 'secrets', after)).rejects.toThrow(/no longer in VAULT_KEYS/)
})

test('without a key nothing is sealed at all', async () => {
  await expect(seal(withKeys(''), 'a', 'job', 'secrets', value)).rejects.toThrow(/VAULT_KEYS/)
  await expect(seal(withKeys('k1:c2hvcnQ='), 'a', 'job', 'secrets', value)).rejects.toThrow(/32 bytes/)
})
