// In charge of: reading images and audio with Python (Pillow, NumPy), which shares no code with ffmpeg.
// Not in charge of: expectations.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Why Python cannot be used here; null = it can. */
export async function missingPython(modules: readonly string[]): Promise<string | null> {
  try {
    await run('/usr/bin/python3', ['-c', `import ${modules.join(', ')}`])
    return null
  } catch {
    return `Python with ${modules.join(' and ')} is missing (Debian: python3-pil, python3-numpy)`
  }
}

/** The program prints JSON. */
export async function runPython(program: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await run('/usr/bin/python3', ['-c', program, ...args], { maxBuffer: 2 ** 28 })
  return JSON.parse(stdout)
}
