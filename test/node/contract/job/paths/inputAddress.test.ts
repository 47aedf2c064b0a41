import { describe, expect, it } from 'vitest'
import { outputBaseName, utf8ByteLength } from '#contract/job/paths/inputAddress.ts'
import { parseInput } from '#contract/job/stores/registry.ts'
import { BASE_URL } from '../../requestFixture.ts'

describe('input of an uploaded file', () => {
  it.each([
    `${BASE_URL}/uploads/12`,
    'HTTPS://API.example.test/uploads/12',
    'http://api.example.test/uploads/12',
    '/uploads/12',
    'uploads/12',
    ' 12',
    `${BASE_URL}/uploads/12/`,
    '12',
  ])('%s is upload 12', (input) => {
    expect(parseInput('file-upload', input, BASE_URL)).toEqual({ kind: 'upload', number: 12 })
  })

  it('may have a base address with a path', () => {
    const base = 'https://h/api/'
    expect(parseInput('file-upload', 'https://h/api/uploads/3', base)).toEqual({ kind: 'upload', number: 3 })
    expect(parseInput('file-upload', '/api/uploads/3', base)).toEqual({ kind: 'upload', number: 3 })
    expect(parseInput('file-upload', 'https://h/uploads/3', base).kind).toBe('invalid')
  })

  it.each([
    'https://elsewhere.test/uploads/12',
    'https://api.example.test@evil.test/uploads/12',
    `${BASE_URL}/uploads/12?x`,
    `${BASE_URL}/12`,
    '0',
    '012',
    '-1',
    '1.5',
    '99999999999999999999',
    '/uploads/',
    's3://bucket/key',
  ])('%s is not one', (input) => {
    expect(parseInput('file-upload', input, BASE_URL)).toMatchObject({ kind: 'invalid', code: 'invalid_input_address' })
  })
})

describe('input by address', () => {
  it.each([
    'http://h/a.mp4',
    'https://h.example:8443/a%20b.ts?x=1#t',
    'https://[2001:db8::1]/a',
    'https://bücher.example/a',
    'HTTPS://h',
  ])('%s is accepted', (url) => {
    expect(parseInput('http', url, BASE_URL)).toEqual({ kind: 'http', url })
  })

  it.each([
    ['https://user:pw@h/a', 'user_info_in_address'],
    ['https://user@h/a', 'user_info_in_address'],
    ['ftp://h/a', 'invalid_input_address'],
    ['file:///etc/passwd', 'invalid_input_address'],
    ['//h/a', 'invalid_input_address'],
    ['https:/h/a', 'invalid_input_address'],
    ['https:///a', 'invalid_input_address'],
    ['https://h\\@x/a', 'invalid_input_address'],
    ['https://h\n.x/a', 'invalid_input_address'],
    [' https://h/a', 'invalid_input_address'],
    ['https://h:99999/a', 'invalid_input_address'],
    ['https://h:0/a', 'invalid_input_address'],
    ['https://h%2f/a', 'invalid_input_address'],
    ['film.mp4', 'invalid_input_address'],
  ])('%j is refused as %s', (url, code) => {
    expect(parseInput('http', url, BASE_URL)).toMatchObject({ kind: 'invalid', code })
  })
})

describe('input in a bucket', () => {
  it.each([
    ['aws', 's3://my-bucket/a/b c.mp4', { kind: 's3', bucket: 'my-bucket', key: 'a/b c.mp4' }],
    ['gcloud', 'gs://my_bucket/k', { kind: 'gs', bucket: 'my_bucket', key: 'k' }],
    ['oracle', 'oci://namespace/Bucket/a/b', { kind: 'oci', namespace: 'namespace', bucket: 'Bucket', key: 'a/b' }],
  ] as const)('of %s: %s', (provider, input, parsed) => {
    expect(parseInput(provider, input, BASE_URL)).toEqual(parsed)
  })

  it.each([
    ['aws', 'film.mp4', 's3://<bucket>/<key>'],
    ['aws', 's3://bucket', 's3://<bucket>/<key>'],
    ['aws', 'gs://bucket/key', 's3://<bucket>/<key>'],
    ['oracle', 'oci://ns/bucket', 'oci://<namespace>/<bucket>/<path>'],
    ['gcloud', 'key', 'gs://<bucket>/<key>'],
    ['aws', 's3://Bad_Bucket/key', 'bucket name'],
    ['aws', 's3://bucket/a/../b', '..'],
    ['oracle', 'oci://N.S/b/k', 'namespace'],
    ['aws', `s3://bucket/${'k'.repeat(1025)}`, '1024 bytes'],
    ['aws', 's3://bucket/a\u0000b', 'control characters'],
  ] as const)('of %s is not %s', (provider, input, part) => {
    const parsed = parseInput(provider, input, BASE_URL)
    expect(parsed.kind === 'invalid' && parsed.message).toContain(part)
  })
})

describe('the name of an input', () => {
  it.each([
    ['https://h/a/film.final.mp4?x=/y.z', 'film_final'],
    ['https://h/a/My%20film%20%C3%A9t%C3%A9.mov', 'My_film_ete'],
    ['https://h/film.mp4?…', 'film'],
    ['s3://bucket/dir/clip?.ts', 'clip'],
    ['https://h', 'input'],
    ['https://h/', 'input'],
    ['/uploads/12', '12'],
    ['C:\\films\\a.mp4', 'a'],
    ['..', 'input'],
    ['.hidden', 'hidden'],
    ['-rf.mp4', 'rf'],
    ['%2e%2e%2f%2e%2e%2fetc.mp4', 'etc'],
    ['映画.mp4', 'input'],
    [`${'x'.repeat(200)}.mp4`, 'x'.repeat(80)],
    ['100%.mp4', '100'],
  ])('%s is %s', (input, name) => {
    expect(outputBaseName(input)).toBe(name)
    expect(outputBaseName(name)).toBe(name)
  })
})

it('counts bytes as UTF-8 does', () => {
  for (const text of ['', 'a', 'é', '映', '😀', 'a😀é']) expect(utf8ByteLength(text)).toBe(Buffer.byteLength(text))
})
