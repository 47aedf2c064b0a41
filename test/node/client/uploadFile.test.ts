// In charge of: uploads of the client against a service that breaks the connection.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../../../client/nodeClient.ts'
import { tempDirectory } from '../../support/media/media.ts'

const SIZE = 200_000
const BREAKS_AFTER = 70_000
const HEADERS = ['upload-offset', 'upload-length', 'upload-metadata']

let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let server: Server
let stored: Buffer
let requests: string[]
let losesLastAnswer = false
beforeAll(async () => {
  tempDir = await tempDirectory()
  server = createServer((request, response) => {
    requests.push([request.method, request.url, ...HEADERS.map((name) => request.headers[name] ?? '')].join(' ').trim())
    switch (request.method) {
      case 'POST':
        response.writeHead(201, { location: 'http://elsewhere.test/uploads/9' })
        response.end(JSON.stringify({ uploaded_file_number: 7, input: 'http://x/uploads/7', size: SIZE }))
        return
      case 'HEAD':
        response.writeHead(200, { 'upload-offset': String(stored.length) }).end()
        return
      default: {
        const isFirst = stored.length === 0
        request.on('data', (chunk: Buffer) => {
          stored = Buffer.concat([stored, isFirst ? chunk.subarray(0, BREAKS_AFTER - stored.length) : chunk])
          if (isFirst && stored.length === BREAKS_AFTER) request.socket.destroy()
        })
        request.on('end', () => {
          if (losesLastAnswer && stored.length === SIZE) {
            losesLastAnswer = false
            request.socket.destroy()
          } else response.writeHead(204, { 'upload-offset': String(stored.length) }).end()
        })
      }
    }
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
afterAll(async () => {
  server?.close()
  await tempDir?.[Symbol.asyncDispose]()
})

test('an interrupted upload resumes at the stored offset, at the address of the service', async () => {
  ;[stored, requests] = [Buffer.alloc(0), []]
  const bytes = Buffer.from(Array.from({ length: SIZE }, (_, index) => (index * 7919) % 251))
  await writeFile(tempDir.file('a.mp4'), bytes)
  const reported: number[] = []
  const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, 'key')
  const { input } = await client.upload(tempDir.file('a.mp4'), 'a name.mp4', { progress: (at) => reported.push(at) })
  expect(input).toBe('http://x/uploads/7')
  expect(stored.equals(bytes)).toBe(true)
  expect(reported).toEqual([0, SIZE])
  expect(requests).toEqual([
    `POST /uploads  ${SIZE} filename ${Buffer.from('a name.mp4').toString('base64')}`,
    'PATCH /uploads/7 0',
    'HEAD /uploads/7',
    `PATCH /uploads/7 ${BREAKS_AFTER}`,
  ])
})

test('an upload whose last answer is lost is completed by an empty chunk', async () => {
  ;[stored, requests, losesLastAnswer] = [Buffer.alloc(0), [], true]
  await writeFile(tempDir.file('b.mp4'), Buffer.alloc(SIZE))
  const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, 'key')
  await client.upload(tempDir.file('b.mp4'))
  expect(requests.slice(-2)).toEqual(['HEAD /uploads/7', `PATCH /uploads/7 ${SIZE}`])
})
