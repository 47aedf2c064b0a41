// In charge of: playing one address in one player, and recording what tests check: errors, frames, what was appended to
// the decoder, captions, cues. Runs in the browser.
const video = document.getElementById('video')
const seen = { errors: [], pictures: [], heights: [], texts: [], cues: [], appended: [], switched: null }
window.seen = seen

// What a player appends to the decoder, with its timeline offset, which shows the player's real clock.
// oxlint-disable-next-line typescript/unbound-method -- called with its owner
const add = MediaSource.prototype.addSourceBuffer
MediaSource.prototype.addSourceBuffer = function (mime) {
  const buffer = add.call(this, mime)
  // oxlint-disable-next-line typescript/unbound-method -- called with its owner
  const append = buffer.appendBuffer
  const kind = mime.startsWith('audio') ? 'audio' : 'video'
  buffer.appendBuffer = function (data) {
    const bytes =
      data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    seen.appended.push({ kind, offset: buffer.timestampOffset, bytes: bytes.slice() })
    return append.call(buffer, data)
  }
  return buffer
}

const context = document.getElementById('canvas').getContext('2d', { willReadFrequently: true })
function look(_now, { mediaTime, height }) {
  context.drawImage(video, 0, 0, 16, 9)
  const { data } = context.getImageData(0, 0, 16, 9)
  let sum = 0
  for (let at = 0; at < data.length; at += 4) sum += data[at]
  seen.pictures.push({ time: mediaTime, bright: sum / (data.length / 4) > 128 })
  if (seen.heights.at(-1) !== height) seen.heights.push(height)
  video.requestVideoFrameCallback(look)
}
video.requestVideoFrameCallback(look)

// Each cue is recorded once, when its time has come, even if a busy browser is so late that its end has passed too.
// dash.js takes cues out and puts them back.
const known = new WeakSet()
// oxlint-disable-next-line typescript/unbound-method -- called with its owner
const addCue = TextTrack.prototype.addCue
TextTrack.prototype.addCue = function (cue) {
  const isNew = !known.has(cue)
  known.add(cue)
  const record = () => {
    const { startTime: start, endTime: end, text } = cue
    if (text) seen.texts.push({ kind: this.kind, label: this.label, start, end, text })
  }
  if (isNew) cue.addEventListener('enter', record, { once: true })
  return addCue.call(this, cue)
}
video.textTracks.addEventListener('addtrack', ({ track }) => (track.mode = 'hidden'))

/** Shaka's own text display needs its UI; this one only records what would be shown. */
class KeptTexts {
  #visible = false
  append(cues) {
    for (const cue of cues) {
      const inner = (each) => [each.payload, ...each.nestedCues.map(inner)].join('')
      const { startTime: start, endTime: end } = cue
      seen.texts.push({ kind: 'captions', label: 'shaka', start, end, text: inner(cue) })
    }
  }
  configure() {}
  remove() {
    return true
  }
  isTextVisible() {
    return this.#visible
  }
  setTextVisibility(on) {
    this.#visible = on
  }
  setTextLanguage() {}
  enableTextDisplayer() {}
  destroy() {
    return Promise.resolve()
  }
}

const players = {
  /** The browser itself. */
  native(address) {
    video.src = address
    return { change: () => undefined, count: () => 1 }
  },
  hls(address) {
    const hls = new Hls({ startLevel: 0, autoStartLoad: true, capLevelToPlayerSize: false })
    hls.on(Hls.Events.ERROR, (_event, { details, fatal, error }) => {
      // What it is loading when the rendition changes, it aborts itself.
      if (details !== Hls.ErrorDetails.INTERNAL_ABORTED) seen.errors.push(`${details} ${fatal} ${error?.message}`)
    })
    hls.on(Hls.Events.MANIFEST_PARSED, () => (hls.loadLevel = 0))
    hls.on(Hls.Events.LEVEL_LOADED, (_event, { details }) => {
      for (const range of Object.values(details.dateRanges ?? {}))
        seen.cues.push({ id: range.id, start: (range.startDate - details.fragments[0].programDateTime) / 1000 })
    })
    hls.loadSource(address)
    hls.attachMedia(video)
    return {
      // The rendition changes at a segment boundary. During playback, hls.js schedules the change as far ahead as a
      // fragment took to load, which on a busy machine is after the end.
      change: () => {
        video.pause()
        hls.nextLevel = hls.levels.length - 1
        video.play().catch((error) => seen.errors.push(String(error)))
      },
      count: () => hls.levels.length,
    }
  },
  async shaka(address, language) {
    shaka.polyfill.installAll()
    const player = new shaka.Player()
    player.addEventListener('error', ({ detail }) => seen.errors.push(`shaka ${detail.code} ${detail.message}`))
    player.addEventListener('timelineregionadded', ({ detail }) =>
      seen.cues.push({ id: detail.id, start: detail.startTime }),
    )
    player.addEventListener('metadataadded', (event) =>
      seen.cues.push({ id: event.values?.[0]?.key ?? '', start: event.startTime }),
    )
    await player.attach(video)
    // Buffered segments stay when the rendition changes: the next segment is the first of the new rendition.
    player.configure({ abr: { enabled: false }, streaming: { bufferingGoal: 2, rebufferingGoal: 0.5 } })
    player.configure('textDisplayFactory', () => new KeptTexts())
    await player.load(address).catch(({ code, data }) => {
      throw new Error(`shaka ${code} ${JSON.stringify(data)}`)
    })
    // Only variants with the audio codec that it chose, since this browser may not decode the others.
    const { audioCodec } = player.getVariantTracks().find(({ active }) => active) ?? {}
    const withAudio = () => player.getVariantTracks().filter((track) => track.audioCodec === audioCodec)
    const byHeight = () => withAudio().toSorted((a, b) => a.height - b.height || a.bandwidth - b.bandwidth)
    player.selectVariantTrack(byHeight()[0], true)
    const text = player.getTextTracks().find((track) => language === null || track.language === language)
    // The first track is selected but hidden: selecting it again would change nothing.
    player.selectTextTrack(null)
    if (text) player.selectTextTrack(text)
    return { change: () => player.selectVariantTrack(byHeight().at(-1), false), count: () => byHeight().length }
  },
  dash(address, language) {
    const player = dashjs.MediaPlayer().create()
    player.on('error', ({ error }) => seen.errors.push(`dash ${error?.code} ${error?.message}`))
    for (const scheme of ['urn:scte:scte35:2014:xml+bin'])
      player.on(scheme, ({ event }) =>
        seen.cues.push({ id: String(event.id), start: event.calculatedPresentationTime }),
      )
    player.updateSettings({
      streaming: {
        abr: { autoSwitchBitrate: { video: false, audio: false }, initialBitrate: { video: 1 } },
        buffer: {
          fastSwitchEnabled: false,
          bufferTimeDefault: 2,
          bufferTimeAtTopQuality: 2,
          bufferTimeAtTopQualityLongForm: 2,
        },
        text: { defaultEnabled: true },
      },
    })
    player.initialize(video, address, false)
    if (language !== null) player.setInitialMediaSettingsFor('text', { lang: language })
    const kind = () => (player.getTracksFor('video').length === 0 ? 'audio' : 'video')
    const byRate = () => player.getRepresentationsByType(kind()).toSorted((a, b) => a.bandwidth - b.bandwidth)
    return {
      change: () => player.setRepresentationForTypeById(kind(), byRate().at(-1).id, false),
      count: () => byRate().length,
    }
  },
}

/**
 * Plays to the end; switches to the best rendition at `changeAt` seconds. `language` of the text track in Shaka Player and
 * dash.js; null = the first. hls.js chooses the default.
 */
window.play = async (name, address, changeAt, language = null) => {
  let gone = false
  const control = await players[name](address, language)
  if (video.readyState < 3) await new Promise((done) => video.addEventListener('canplay', done, { once: true }))
  video.addEventListener('timeupdate', () => {
    if (gone || video.currentTime < changeAt) return
    gone = true
    seen.switched = control.count()
    control.change()
  })
  video.addEventListener('error', () => seen.errors.push(`video ${video.error?.message}`))
  // dash.js treats the video as ended, and pauses it, if a busy machine stalls within the last half second. It may do so
  // again before the resumed playback has begun: play() is then rejected. Whether the end was reached is checked in any case.
  let resumed = 0
  video.addEventListener('pause', () => {
    if (!video.ended && resumed++ < 5) video.play().catch(() => undefined)
  })
  await video.play()
}

window.state = () => ({
  ended: video.ended,
  time: video.currentTime,
  duration: video.duration,
  paused: video.paused,
  ready: video.readyState,
  seeking: video.seeking,
  rate: video.playbackRate,
  errors: seen.errors,
})

function base64(bytes) {
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}

window.report = () => {
  const { droppedVideoFrames, totalVideoFrames } = video.getVideoPlaybackQuality()
  const buffered = Array.from({ length: video.buffered.length }, (_, index) => [
    video.buffered.start(index),
    video.buffered.end(index),
  ])
  return {
    ...seen,
    appended: seen.appended.map(({ kind, offset, bytes }) => ({ kind, offset, bytes: base64(bytes) })),
    duration: video.duration,
    ended: video.ended,
    dropped: droppedVideoFrames,
    total: totalVideoFrames,
    buffered,
  }
}
