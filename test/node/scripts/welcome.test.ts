// In charge of: what `npm start` prints for pasting into a terminal.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { parse } from '../../../cli/arguments.ts'
import { readSettings } from '../../../scripts/local/localSettings.ts'
import type { RunningService } from '../../../scripts/local/localService.ts'
import { startMessage } from '../../../scripts/local/startMessage.ts'

const service = {
  baseUrl: 'http://127.0.0.1:8787',
  apiKey: 'key_CWgoXYTY5ygPTxGSZxAq8RK7',
  adminKey: 'admin_9X2pQeVYqk1mA7',
  engine: { version: '7.1', ffmpeg: '/usr/bin/ffmpeg' },
} as RunningService
const lines = startMessage(service, readSettings({})).split('\n')
const line = (start: string): string => lines.find((one) => one.trim().startsWith(start)) ?? ''

test('the first line sets what the README and the command ask for', () => {
  const script = `${line('export ')}; printf '%s\\n' "$BASE" "$KEY" "$SPLICEPOINT_URL" "$SPLICEPOINT_KEY" "$SPLICEPOINT_ADMIN_KEY"`
  const set = execFileSync('sh', ['-euc', script], { encoding: 'utf8' })
  expect(set.trim().split('\n')).toEqual([
    service.baseUrl,
    service.apiKey,
    service.baseUrl,
    service.apiKey,
    service.adminKey,
  ])
})

test('both keys are shown, each with what it is for', () => {
  expect(line('API key')).toMatch(/key_CWgoXYTY5ygPTxGSZxAq8RK7 +\(jobs and uploads\)$/)
  expect(line('Admin key')).toMatch(/admin_9X2pQeVYqk1mA7 +\(issues keys, .*\)$/)
})

test('dashboard, command and curl have a first line each', () => {
  const [npx, name, ...args] = line('npx ').trim().split(' ')
  expect([npx, name]).toEqual(['npx', 'splicepoint'])
  expect(parse(args)).toMatchObject({ name: 'submit', positionals: ['film.mp4'], values: { hls: true, share: true } })
  expect(line('1. ')).toContain(`open ${service.baseUrl}/`)
  expect(line('curl ')).toBe('  curl -u "$KEY:" --data-binary @film.mp4 "$BASE/uploads?name=film.mp4"')
})
