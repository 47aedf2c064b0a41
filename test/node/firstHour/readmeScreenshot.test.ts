// In charge of: the screenshot in README.md. `PICTURES=1 npm test -- test/node/firstHour/readmeScreenshot` makes it
// anew, with a real job in a real browser; without that, the existing file is checked.
// Not in charge of: screenshots of every page for review (SCREENSHOTS, support/browser/accessibility.ts).
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchChromium, requireChromium, signIn, openDashboard } from '../../support/browser/dashboardPage.ts'
import { expectInPage } from '../../support/browser/pageAssertions.ts'
import { ffmpeg, tempDirectory } from '../../support/media/media.ts'
import { findChromium } from '../../support/browser/playerBrowser.ts'
import { ROOT, Service } from '../../support/service.ts'

const PICTURE = join(ROOT, 'docs/images/dashboard.png')
const MAX_BYTES = 200_000
const SIZE = { width: 1280, height: 800 }

test('README.md shows a PNG of the dashboard that is small enough for a first screen', async () => {
  expect(await readFile(join(ROOT, 'README.md'), 'utf8')).toContain('](docs/images/dashboard.png)')
  const bytes = await readFile(PICTURE)
  expect(bytes.subarray(1, 4).toString()).toBe('PNG')
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([SIZE.width, SIZE.height])
  expect((await stat(PICTURE)).size).toBeLessThanOrEqual(MAX_BYTES)
})

// No test rather than a skipped one, which REQUIRE_ALL forbids: it writes a file of the repository.
test.for(process.env['PICTURES'] === '1' ? [PICTURE] : [])(
  'the picture %s is made of a job that has ended',
  async (_path, context) => {
    const chromium = await findChromium()
    requireChromium(context, chromium)
    await using tempDir = await tempDirectory()
    const clip = tempDir.file('deep-zoom.mp4')
    const picture = 'mandelbrot=s=1280x720:r=25:start_scale=0.6:end_scale=0.02:end_pts=600:maxiter=400,hue=s=0.6:h=90'
    const encode = ['-t', '12', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', clip]
    await ffmpeg(['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', 'sine=f=220:r=48000', ...encode])
    await using service = await Service.start({ LEASE_SECONDS: '30' })
    const { input } = (await (
      await service.call('/uploads?name=deep-zoom.mp4', {
        method: 'POST',
        headers: { 'content-type': 'video/mp4' },
        body: await readFile(clip),
      })
    ).json()) as { input: string }
    const id = await service.create({
      input,
      output_container: 'hls',
      segmented_output_dash: true,
      thumbnails: true,
      ladder: 'auto',
      audioProfiles: [{ source_stream: 1, optional: true }],
      cloud_credentials: { input: { cloud_provider: 'file-upload' } },
    })
    expect((await service.waitForEnd(id)).error).toBeNull()
    const browser = await launchChromium(chromium!)
    try {
      const { page } = await openDashboard(browser, service.base, { viewport: SIZE })
      await page.goto(`/jobs/${id}`)
      await signIn(page, service.ready.api_key)
      await page.getByRole('button', { name: /^Play/ }).first().click()
      await expectInPage(page, `document.querySelector('video')?.currentTime > 3`).toBe(true)
      await page.evaluate(`document.querySelector('video').pause()`)
      // The controls stay visible while the pointer is over the video.
      await page.locator('video').hover()
      await expectInPage(
        page,
        `document.getAnimations().filter(({ playState }) => playState === 'running').length`,
      ).toBe(0)
      await page.screenshot({ path: tempDir.file('page.png') })
    } finally {
      await browser.close()
    }
    // With a palette the file has a third of the bytes, and text stays sharp.
    const palette =
      'split[page][colours];[colours]palettegen=max_colors=192[palette];[page][palette]paletteuse=dither=none'
    await ffmpeg(['-i', tempDir.file('page.png'), '-vf', palette, '-compression_level', '100', '-update', '1', PICTURE])
  },
)
