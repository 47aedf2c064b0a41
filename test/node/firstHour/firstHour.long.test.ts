// In charge of: the first hour of a new user with nothing but README.md: clone, start, transcode, share, watch. The
// commands are the README's own, in a clone of the last commit; the clips are those with which defaults have failed
// before. It prints how long each step took; nothing depends on that.
// Not in charge of: each command by itself (node/docs/readme.test.ts, node/docs/examples.test.ts).
import { execFile } from 'node:child_process'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest'
import { findOnPath } from '../../../transcoder/ffmpeg/sandbox.ts'
import { launchChromium, requireChromium, openDashboard } from '../../support/browser/dashboardPage.ts'
import { expectCount, expectInPage } from '../../support/browser/pageAssertions.ts'
import { sampled } from '../../support/longForm.ts'
import { tempDirectory } from '../../support/media/media.ts'
import { findChromium } from '../../support/browser/playerBrowser.ts'
import { skipTest } from '../../support/requirement.ts'
import { ROOT } from '../../support/service.ts'
import { CLIPS, type ClipName } from './newcomerClips.ts'
import { NewcomerSession } from './newcomer.ts'
import { findCodeBlock, parseCodeBlocks } from './markdownCommands.ts'

const run = promisify(execFile)
const chromium = await findChromium()
const lacking = (
  await Promise.all(
    ['git', 'npm', 'npx', 'curl', 'bash'].map(async (name) => ((await findOnPath(name)) === null ? name : '')),
  )
).filter((name) => name !== '')
const isClone = await run('git', ['-C', ROOT, 'rev-parse', 'HEAD']).then(
  () => true,
  () => false,
)

function requireAll(context: TestContext): void {
  requireChromium(context, chromium)
  if (lacking.length > 0) skipTest(context, `${lacking.join(', ')} is not installed`)
  if (!isClone) skipTest(context, 'this is not a git checkout')
}

let person: NewcomerSession
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let browser: Browser
let readme: string
beforeAll(async () => {
  if (chromium === null || lacking.length > 0 || !isClone) return
  tempDir = await tempDirectory()
  person = await NewcomerSession.prepareMachine()
  browser = await launchChromium(chromium)
})
afterAll(async () => {
  await browser?.close()
  const steps = person?.steps ?? []
  await person?.[Symbol.asyncDispose]()
  await tempDir?.[Symbol.asyncDispose]()
  const total = steps.reduce((sum, { seconds }) => sum + seconds, 0)
  for (const { name, seconds } of [...steps, { name: 'together', seconds: total }])
    process.stdout.write(`${seconds.toFixed(1).padStart(7)} s  ${name}\n`)
})

const git = async (...args: string[]): Promise<string> => (await run('git', ['-C', person.clone, ...args])).stdout

/** Plays a share page, knowing only its address. */
async function watch(address: string): Promise<{ page: Page; frames: number }> {
  const { page, complaints } = await openDashboard(browser, person.variable('BASE'))
  const keys: string[] = []
  page.on('request', (request) => {
    if (request.headers()['authorization'] !== undefined) keys.push(request.url())
  })
  await page.goto(address)
  await page.getByRole('button', { name: /^Play/ }).first().click()
  // As text: this runs in the page, whose types are not Node's.
  const state = `(() => {
    const video = document.querySelector('video')
    if (video === null) return { frames: 0, time: 0, error: null }
    video.loop = true
    return { frames: video.getVideoPlaybackQuality().totalVideoFrames, time: video.currentTime, error: video.error?.message ?? null }
  })()`
  await expectInPage<{ frames: number; time: number }>(page, state).toMatchObject({
    error: null,
    frames: expect.any(Number),
  })
  await expectInPage(page, `${state}.frames > 10 && ${state}.time > 0.2`).toBe(true)
  const { frames } = await page.evaluate<{ frames: number }>(state)
  await expectInPage(page, `${state}.frames > ${frames + 10}`).toBe(true)
  expect(keys).toEqual([])
  expect(await complaints()).toEqual([])
  return { page, frames }
}

describe('with README.md alone', () => {
  test('a person gets the source, and the service starts and says what to do next', async (context) => {
    requireAll(context)
    const line = findCodeBlock(await readFile(join(ROOT, 'README.md'), 'utf8'), 'git clone')
    const [clone, demo, start] = line.trim().split('\n')
    await person.step('git clone', () => person.getSource(clone!))
    readme = await readFile(join(person.clone, 'README.md'), 'utf8')
    const shown = await person.step('npm run demo', () => person.runCommand(demo!))
    expect(shown.stdout).toMatch(/every frame decodes/)
    const printed = await person.step('npm start', () => person.start(start!))
    for (const name of ['BASE', 'KEY', 'SPLICEPOINT_URL', 'SPLICEPOINT_KEY'])
      expect(person.variable(name), name).not.toBe('')
    expect(printed).toMatch(/Dashboard +http/)
  })

  test.each(sampled(Object.keys(CLIPS) as ClipName[], 2))(
    'one command makes a link of a %s clip, and it plays without a key',
    async (name) => {
      expect(person.variable('BASE'), 'the service is not there').not.toBe('')
      await copyFile(await CLIPS[name](tempDir.file), join(person.clone, 'film.mp4'))
      const command = findCodeBlock(readme, 'npx splicepoint submit film.mp4')
      const { stdout } = await person.step(`submit, ${name}`, () => person.runCommand(command))
      const address = /(http:\S+\/s\/\S+)/.exec(stdout)?.[1]
      expect(address, stdout).toBeDefined()
      await person.step(`watch, ${name}`, async () => {
        const { page } = await watch(address!)
        const [width, height] = await page.evaluate<[number, number]>(
          `[document.querySelector('video').videoWidth, document.querySelector('video').videoHeight]`,
        )
        if (name === 'portrait') expect(height).toBeGreaterThan(width)
        if (name === 'captioned') await expectCount(page.getByRole('button', { name: 'Captions' })).toBe(1)
        if (name === 'tiny') expect([width, height]).toEqual([160, 90])
        await page.context().close()
      })
    },
  )

  test('the four requests by curl make such a link too', async () => {
    expect(person.variable('BASE'), 'the service is not there').not.toBe('')
    await copyFile(await CLIPS.silent(tempDir.file), join(person.clone, 'film.mp4'))
    const commands = parseCodeBlocks(readme).filter(
      ({ heading, language, text }) =>
        heading === 'From your file to a link' && language === 'sh' && !text.startsWith('npx'),
    )
    await person.step('four requests by curl', () => person.runCommand(commands.map(({ text }) => text).join('\n')))
    const share = JSON.parse(await readFile(join(person.clone, 'share.json'), 'utf8')) as { url: string }
    await person.step('watch what they made', () => watch(share.url))
  })

  test('the clone is as clean as it came', async () => {
    expect(person.variable('BASE'), 'the service is not there').not.toBe('')
    expect(await git('status', '--porcelain')).toBe('')
  })
})
