// In charge of: recording a canvas and a sound with the browser's MediaRecorder, and sending the files to the server that
// has the page. The picture is that of card.ts.
/* oxlint-disable */
const t0 = performance.now()
const now = () => (performance.now() - t0) / 1000

function draw(canvas, origin) {
  const { width, height } = canvas
  const g = canvas.getContext('2d')
  const second = now() - origin
  const fill = (left, top, right, bottom, color) => {
    g.fillStyle = color
    const [x, y] = [Math.round(left * width), Math.round(top * height)]
    g.fillRect(x, y, Math.round(right * width) - x, Math.round(bottom * height) - y)
  }
  fill(0, 0, 1, 1, '#7e7e7e')
  fill(0, 0, 0.25, 0.25, '#f00')
  fill(0.75, 0, 1, 0.25, '#0f0')
  fill(0, 0.75, 0.25, 1, '#00f')
  fill(0.75, 0.75, 1, 1, '#fff')
  fill(0.4, 0, 0.6, 0.25, second >= 0.95 && second % 1 < 0.1 ? '#fff' : '#000')
  const mark = Math.round(second * 100)
  for (let bit = 0; bit < 12; bit += 1)
    fill(0.1 + (0.8 * bit) / 12, 0.42, 0.1 + (0.8 * (bit + 1)) / 12, 0.58, (mark >> (11 - bit)) & 1 ? '#fff' : '#000')
}

function sound(context, seconds) {
  const target = context.createMediaStreamDestination()
  const tone = (hertz) => {
    const [source, gain] = [context.createOscillator(), context.createGain()]
    source.frequency.value = hertz
    source.connect(gain).connect(target)
    source.start()
    return gain.gain
  }
  tone(300).value = 0.1
  const beep = tone(1000)
  beep.value = 0
  for (let second = 1; second <= seconds; second += 1) {
    beep.setValueAtTime(0.4, context.currentTime + second)
    beep.setValueAtTime(0, context.currentTime + second + 0.05)
  }
  return target.stream.getAudioTracks()[0]
}

async function record(kind) {
  const { type, width = 320, height = 180, rate, seconds, audio = true, pause, sizes = [] } = kind
  if (!MediaRecorder.isTypeSupported(type)) return null
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  document.body.append(canvas)
  const origin = now()
  draw(canvas, origin)
  const timer = setInterval(() => {
    const size = sizes.findLast(([second]) => now() - origin >= second)
    if (size && canvas.width !== size[1]) [canvas.width, canvas.height] = [size[1], size[2]]
    draw(canvas, origin)
  }, 1000 / rate)
  const stream = canvas.captureStream(rate)
  const context = audio ? new AudioContext() : null
  if (context) {
    await context.resume()
    stream.addTrack(sound(context, seconds))
  }
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 1_500_000 })
  const chunks = []
  recorder.ondataavailable = ({ data }) => chunks.push(data)
  const stopped = new Promise((done) => (recorder.onstop = done))
  recorder.start(1000)
  const wait = (ms) => new Promise((done) => setTimeout(done, ms))
  if (pause) {
    await wait(pause[0] * 1000)
    recorder.pause()
    await wait((pause[1] - pause[0]) * 1000)
    recorder.resume()
  }
  await wait((seconds - (pause ? pause[1] : 0)) * 1000)
  // On a busy machine, an encoder may not have begun yet.
  while (chunks.every(({ size }) => size === 0)) await wait(200)
  recorder.stop()
  await stopped
  clearInterval(timer)
  stream.getTracks().forEach((track) => track.stop())
  await context?.close()
  canvas.remove()
  return new Blob(chunks)
}

/** Two at a time: an idle machine encodes them in time. */
async function recordAll(kinds) {
  const queue = [...kinds]
  const work = async () => {
    for (let kind = queue.shift(); kind; kind = queue.shift()) {
      const made = await record(kind).catch((error) => ({ failed: String(error) }))
      const [status, body] =
        made === null ? ['unsupported', ''] : made.failed ? ['failed', made.failed] : ['made', made]
      await fetch(`/${status}/${kind.name}`, { method: 'POST', body })
    }
  }
  await Promise.all([work(), work(), work()])
}
