// In charge of: `npm run build -- image`: builds the transcoder's image with the local Docker engine and prints the result.
// Not in charge of: the build (image/buildImage.ts), testing the image (test/node/deploy/image.test.ts).
import { buildImage, IMAGE } from './image/buildImage.ts'
import { engineVersion } from './image/docker.ts'

const version = await engineVersion()
if (version === null) {
  process.stderr.write('No Docker engine answers here (docker version). On Debian: apt-get install docker.io.\n')
  process.exitCode = 1
} else {
  try {
    const { id, base, bytes, seconds } = await buildImage()
    process.stdout.write(
      `${IMAGE} ${id}\n${(bytes / 1e6).toFixed(0)} MB, built by Docker ${version} in ${seconds.toFixed(1)} s on ${base}\n`,
    )
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
