// In charge of: small jobs and sources for planning tests; each test states only what it is about.
// Not in charge of: expectations.
import { audioFileOf } from '#contract/codecs.ts'
import type { AudioProfile, JobSpec, PackagingSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../../../transcoder/plan/model/mediaInfo.ts'

export function jobSpec(change: Partial<JobSpec> = {}): JobSpec {
  return {
    container: 'mp4',
    packaging: null,
    videoCodec: 'h264',
    quality: 'good',
    gopSeconds: 1,
    ipDistance: 3,
    keepFps: true,
    scte35Passthrough: false,
    scte35Pid: null,
    service: {
      profile: null,
      name: 'clip',
      provider: 'Splicepoint',
      id: 1,
      transportStreamId: 1,
      mapPid: 0x1000,
      videoPid: 0x100,
      audioPid: 0x101,
    },
    aspect: 'passthrough',
    transform: 'none',
    barPercent: 0,
    logo: null,
    detelecine: false,
    audioVolume: 100,
    loudnessLufs: null,
    program: null,
    allowHlsSource: true,
    dynamicRange: 'sdr',
    closedCaptions: null,
    inputName: 'clip',
    outputDirectory: '',
    audioDirectory: null,
    expectedAudioStreams: null,
    maxSourceErrors: null,
    maxChunkSeconds: null,
    allowUpscaling: null,
    copyIfPossible: false,
    cut: null,
    inputs: null,
    ladder: null,
    video: [videoProfile()],
    audio: [audioProfile()],
    stills: [],
    animatedPreview: null,
    waveform: null,
    ...change,
  }
}

export function packagingSpec(change: Partial<PackagingSpec> = {}): PackagingSpec {
  return {
    hls: false,
    dash: false,
    smooth: false,
    segmentSeconds: 6,
    hasExplicitSegmentLength: true,
    separateAudio: false,
    preferTransportStream: false,
    tar: false,
    thumbnails: false,
    programStart: 0,
    ...change,
  }
}

export function videoProfile(change: Partial<VideoProfile> = {}): VideoProfile {
  return {
    index: 0,
    rung: null,
    output: `out_${change.index ?? 0}.mp4`,
    width: 320,
    height: 180,
    mode: 'vbr',
    bitrateKbps: 500,
    frameRateFactor: '1x',
    audioProfiles: [0],
    progressive: false,
    copy: false,
    ...change,
  }
}

export function audioProfile(change: Partial<AudioProfile> = {}): AudioProfile {
  return {
    index: 0,
    codec: 'aac',
    channels: 2,
    bitrateKbps: 128,
    sampleRate: 48_000,
    bitDepth: null,
    container: audioFileOf(change.codec ?? 'aac', undefined).container,
    sourceStream: 1,
    downmix: null,
    downmixLfe: null,
    dialnorm: 0,
    optional: false,
    copy: false,
    ...change,
  }
}

export function mediaInfo(video: Partial<VideoStream> = {}, change: Partial<MediaInfo> = {}): MediaInfo {
  return {
    formats: ['mov', 'mp4'],
    durationSeconds: 10,
    startSeconds: 0,
    sizeBytes: 1_000_000,
    video: {
      index: 0,
      id: null,
      codec: 'h264',
      width: 1280,
      height: 720,
      sar: { num: 1, den: 1 },
      rotation: 0,
      frameRate: { num: 25, den: 1 },
      variableFrameRate: false,
      commonFrameRate: null,
      fieldOrder: 'progressive',
      scan: null,
      pixelFormat: 'yuv420p',
      colorRange: 'tv',
      colorSpace: 'bt709',
      colorTransfer: 'bt709',
      colorPrimaries: 'bt709',
      masteringDisplay: null,
      contentLight: null,
      dynamicMetadata: false,
      closedCaptions: false,
      captionChannels: [],
      captionLanguages: {},
      severalCaptionMessages: false,
      activeFormat: false,
      startSeconds: 0,
      durationSeconds: 10,
      ...video,
    },
    audio: [audioStream()],
    other: [],
    program: null,
    programs: [],
    ...change,
  }
}

export function audioStream(change: Partial<AudioStream> = {}): AudioStream {
  return {
    index: 1,
    id: null,
    number: 1,
    codec: 'aac',
    channels: 2,
    channelLayout: 'stereo',
    sampleRate: 48000,
    language: null,
    dialnorm: null,
    downmixLevels: null,
    loudness: [],
    startSeconds: 0,
    durationSeconds: 10,
    ...change,
  }
}
