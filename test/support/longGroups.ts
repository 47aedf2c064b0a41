// In charge of: the groups of long forms (longForm.ts): which tests belong to each, and what they prove. A group runs again
// where its tests or the files of `covers` have changed since it last passed (scripts/test.ts).
// Not in charge of: running them (scripts/test.ts).

export interface LongGroup {
  /** Beginnings of paths. */
  tests: readonly string[]
  /** Folders and files. */
  covers: readonly string[]
}

const below = (folder: string, ...names: string[]): string[] => names.map((name) => `${folder}/${name}`)
const encoding = (...names: string[]): string[] => below('test/node/transcoder/encoding', ...names)
const division = (...names: string[]): string[] => below('test/node/transcoder/division', ...names)
const pipeline = (...names: string[]): string[] => below('test/node/transcoder/pipeline', ...names)
const node = (...names: string[]): string[] => below('test/node', ...names)
const jobs = (...names: string[]): string[] => below('test/node/service/jobs', ...names)
const transcoder = (...names: string[]): string[] => below('transcoder', ...names)

export const LONG_GROUPS: Readonly<Record<string, LongGroup>> = {
  video: {
    tests: [
      ...encoding('video/a', 'video/b', 'video/col', 'video/f', 'video/g', 'video/h', 'video/i', 'video/q', 'tstd'),
      ...pipeline('presetDefaults'),
      ...node('matrix/quickRows'),
    ],
    covers: transcoder('plan/argv', 'plan/video', 'formats/tsMultiplexer', 'ffmpeg'),
  },
  audio: {
    tests: encoding('audio', 'container', 'segmentPipes'),
    covers: transcoder('plan/argv', 'plan/audio', 'formats/metering', 'analysis/loudness'),
  },
  sources: {
    tests: [
      ...encoding('sourceFormats', 'video/keyFrameSeek'),
      ...pipeline('sources'),
      ...jobs('hlsSource'),
      ...node('transcoder/runTask', 'transcoder/analysis', 'everyday', 'truncation', 'service/security/hostileSources'),
    ],
    covers: transcoder('analysis', 'source', 'plan/streams'),
  },
  division: {
    tests: [
      ...encoding('video/chunkSources', 'video/transportChunks'),
      ...division('divided', 'sourceB', 'survey', 'transportDivision'),
      ...jobs('divided'),
      ...node('matrix/divided', 'players/divided'),
    ],
    covers: transcoder('division', 'segmenter/cutters', 'formats/video'),
  },
  captions: {
    tests: [
      ...encoding('caption'),
      ...pipeline('burnIn', 'bitmapBurnIn', 'embeddedCaptions'),
      ...node('cueTiming', 'players/subtitles', 'players/captionFiles', 'transcoder/formats/bitmapSubtitles'),
    ],
    covers: transcoder('formats/ass', 'formats/bitmapSubtitles', 'formats/captions', 'formats/cea', 'pipeline/burnIn'),
  },
  joins: {
    tests: [...pipeline('join'), ...jobs('manyInputs'), ...node('players/joins')],
    covers: transcoder('pipeline/join', 'plan/join'),
  },
  copies: { tests: pipeline('copies', 'cuts'), covers: transcoder('plan/copy', 'plan/argv', 'formats/mp4') },
  extracts: {
    tests: node('transcoder/extracts'),
    covers: transcoder('extracts', 'plan/extracts', 'formats/waveform', 'formats/imageSplitter.ts'),
  },
  players: {
    tests: node('players/audioOnly', 'players/gapless', 'players/players', 'validators'),
    covers: transcoder('formats/mp4', 'formats/mpegts', 'manifests', 'segmenter'),
  },
  stores: { tests: node('service/stores'), covers: ['worker/storage', 'transcoder/upload', 'transcoder/source'] },
  service: {
    tests: [
      ...jobs('usage'),
      ...node('chaos', 'harness/simulation', 'service/local', 'service/operability', 'service/recovery'),
      ...node('transcoder/server'),
      ...below('test/worker', 'scheduler/jobFlow', 'scheduler/races', 'taskApi/segmentedOutput'),
    ],
    covers: ['contract/task', 'scripts/local', 'worker/db', 'worker/scheduler', 'worker/taskApi', 'transcoder/taskApi'],
  },
  expressions: {
    tests: node('harness/regularExpressions', 'harness/readerGrowth'),
    covers: ['cli', 'client', 'contract', 'transcoder', 'worker'],
  },
  web: { tests: node('web/browser'), covers: ['web'] },
  commands: {
    tests: node('docs', 'firstHour', 'scripts', 'service/api', 'service/cli', 'service/hosts'),
    covers: ['cli', 'client', 'deploy', 'scripts', 'package.json'],
  },
}
