// In charge of: `npm run image`: builds the transcoder's image with the Docker engine of this machine and says what came of it.
// Not in charge of: how (image/buildImage.ts); test/node/deploy/image.test.ts runs it and passes jobs through.
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
