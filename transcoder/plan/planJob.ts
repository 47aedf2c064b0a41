// In charge of: turning a job and a probed source into a complete plan, or into the error that prevents it.
// Not in charge of: the request format (contract/job/validateJob.ts), the arguments (argv/ffmpegArgs.ts).
import type { Warning } from '#contract/errors.ts'
import { fileContainers } from '#contract/containers.ts'
import { outputFilePath } from '#contract/job/paths/outputNames.ts'
import type { JobSpec, VideoProfile } from '#contract/job/jobSpec.ts'
import { planAudioTracks } from './audio/audioTracks.ts'
import { cutSource, planCut, type SourceUse } from './streams/cut.ts'
import { copiedVideo } from './copy/copiedStreams.ts'
import { copiesAllVideo } from './copy/settleCopies.ts'
import { videoVerdict } from './copy/videoVerdict.ts'
import { drawnText, planBurnIn, type DrawnCaptions } from './streams/burnIn.ts'
import { drawnBitmaps, planBitmapBurnIn } from './streams/bitmapBurnIn.ts'
import { placeBitmaps } from './video/bitmapPlacement.ts'
import { planFrameCaptions } from './streams/captionPlan.ts'
import { planAudioFiles } from './audio/audioFiles.ts'
import { planWithoutVideo } from './planWithoutVideo.ts'
import { requireDistinctPaths } from './distinctPaths.ts'
import { withoutVideo, withoutUnusedVideo } from './streams/unusedVideo.ts'
import { vbvModel, expectedSize, moovReserve, muxRate } from './video/bitrateBudget.ts'
import { CUE_KBPS, planCues, requireUnusedPid, spliceFrames, type SourceCues } from './streams/cuePlan.ts'
import { toNumber, type Rational } from '../formats/rational.ts'
import { outputDuration, timelineOf, warnFirstFrameHeld } from './streams/outputTiming.ts'
import { isUnprocessed, outputColor, readSourceVideo, withoutColorConversion } from './video/color.ts'
import { isDolbyDigital } from './codecs.ts'
import type { CaptionFile } from '../formats/captions/captionFile.ts'
import { planSidecars } from './streams/sidecarCaptions.ts'
import { fileContainerOf, fileRules, isMp4, segmentForms } from './forms.ts'
import { planGeometry, uprightSize } from './video/geometry.ts'
import { planLogo } from './video/logoPlacement.ts'
import { mixedStreams } from './model/channelMix.ts'
import { ALL_FEATURES, type EngineFeatures } from './model/engineFeatures.ts'
import type { BitmapTrack, LogoImage, MediaInfo, VideoStream } from './model/mediaInfo.ts'
import { PlanContext, type Decision } from './planContext.ts'
import { planAlpha } from './video/alpha.ts'
import { planHdr } from './video/hdr.ts'
import type { AudioPlan } from '#contract/task/plan/audioPlan.ts'
import type { BitmapBurnInPlan, SidecarPlan } from '#contract/task/plan/captionsPlan.ts'
import type { PackagingPlan, SegmentStarts } from '#contract/task/plan/packagingPlan.ts'
import type { OutputPlan, Plan } from '#contract/task/plan/plan.ts'
import type { SourceVideo, VideoPlan } from '#contract/task/plan/videoPlan.ts'
import { requireProgram, usedPids } from './streams/programSelection.ts'
import { planPackaging } from './packagingPlan.ts'
import { requireFewSegments } from './segmentCount.ts'
import { planExtracts } from './extracts/planExtracts.ts'
import { warnClockJumps } from './streams/clockJumps.ts'
import { warnMostlyGaps } from './streams/mostlyGaps.ts'
import { warnDroppedStreams } from './streams/droppedStreams.ts'
import { planCopiedSubtitles, copiedSubtitleKbps } from './streams/copiedSubtitles.ts'
import { textSubtitleStreams } from './streams/textSubtitles.ts'
import { segmentGridRate, gopOf, outputRate } from './video/frameRate.ts'
import { warnDisplayRatios } from './video/displayRatios.ts'
import { checkSourceSize } from './video/sourceSizeCheck.ts'
import { requireStreamCount, needsDeepProbe } from './streams/audioStreamCount.ts'
import { resolveSpec } from './resolveSpec.ts'
import { TELECINE_FILM_RATE, planFields, classifyFields, type SourceFields } from './video/interlacing.ts'

/** What was read beside the source's description, where the job asks for it. */
export interface PlanInputs {
  /** Missing = those of the newest engine. */
  features?: EngineFeatures | undefined
  /** Of the source; null = the job does not ask for them. */
  cues?: SourceCues | null
  logo?: LogoImage | null | undefined
  captions?: readonly CaptionFile[]
  /** Captions that are drawn as text. */
  drawn?: DrawnCaptions | null
  /** Subtitles that are drawn as pictures. */
  bitmapTrack?: BitmapTrack | null
}

/** Makes every decision about a task. Throws TaskError. Everything that was changed or left out is listed in `warnings`. */
export function planJob(
  requested: JobSpec,
  probed: MediaInfo,
  {
    features = ALL_FEATURES,
    cues: sourceCues = null,
    logo = null,
    captions = [],
    drawn = null,
    bitmapTrack = null,
  }: PlanInputs = {},
): Plan {
  const given = withoutUnusedVideo(requested, probed)
  const whole = given.cut?.whole ?? given
  const ofWhole = timelineOf(requested, whole, features)
  const use = cutSource(requested, given, ofWhole)
  const media = withoutCopiedLosses(requested, use)
  const { video } = media
  const request = new PlanContext(requested, { media, timeline: ofWhole }, features)
  requireProgram(request)
  const bitmapStream = drawnBitmaps(requested, media)
  const spec = resolveSpec(request, use)
  const timeline = timelineOf(spec, media, features)
  const context = request.withSpec(spec, timeline)
  // Only single files have a constant multiplex rate. The rules that follow from it do not apply to segments.
  const container = fileContainerOf(spec) ?? 'mp4'
  context.warn(...warnMostlyGaps(media.cut?.whole ?? media))
  const { rate: ownRate } = timeline
  if (video === null || ownRate === null) return planWithoutVideo(context, planExtracts(context, null))

  const source = uprightSize(video)
  const isDecoded = spec.video.some(({ copy }) => !copy)
  const read = readSourceVideo(video, source, planHdr(context, video))
  const sourceVideo = isDecoded ? planAlpha(context, video, read) : read
  const picture = features.zscale ? sourceVideo : withoutColorConversion(sourceVideo)
  // Nothing is said about conversions if no frame is converted.
  const decide = <T>(decision: Decision<T>): T => (isDecoded ? context.follow(decision) : decision.value)
  const scan = decide(classifyFields(spec, video))
  const rate = scan.kind === 'telecined' ? TELECINE_FILM_RATE : decide(ownRate)
  const cut = planCut(context, rate)
  const found = { video, picture, rate, scan, cut }
  if (spec.video.length === 0) {
    const extracts = planExtracts(context, found)
    if (extracts !== null && extracts.frames !== null) warnSource(context, sourceVideo)
    const sound = withoutVideo(media, timeline.startSeconds)
    const source = { media: sound, timeline: timelineOf(spec, sound, features) }
    return planWithoutVideo(context.withMedia(source), extracts)
  }
  const lengthWith = (tracks: readonly AudioPlan[]) =>
    outputDuration(
      media,
      [video, ...media.audio.filter(({ number }) => tracks.some((track) => mixedStreams(track).includes(number)))],
      timeline.startSeconds,
    )
  requireStreamCount(context)

  const cues = planCues(context, sourceCues)
  const subtitles = planCopiedSubtitles(spec, media)
  const keptPids = [...(cues === null ? [] : (sourceCues?.pids ?? [])), ...subtitles.map(({ pid }) => pid)]
  const carried = [
    ...textSubtitleStreams(spec, media, features),
    ...drawnText(spec, media, features),
    ...(bitmapStream === null ? [] : [bitmapStream]),
  ]
  context.warn(...warnDroppedStreams(media, keptPids, carried), ...warnClockJumps(media))
  if (isDecoded) {
    warnSource(context, sourceVideo)
    context.warn(...warnFirstFrameHeld(media, timeline.startSeconds), ...warnDisplayRatios(media))
  }
  const splicePoints = cues === null ? [] : [...(sourceCues?.splicePoints ?? [])]

  const bitmaps = bitmapStream === null ? null : planBitmapBurnIn(context, bitmapStream, bitmapTrack)
  const grid = spec.packaging === null ? null : segmentGridRate(spec, rate)
  const tallest =
    spec.packaging === null
      ? null
      : Math.max(...spec.video.map((profile) => planGeometry(profile, spec, source).value.height))
  // Again, for the renditions that are left: segments begin on the grid of those that are encoded.
  const verdict = videoVerdict(spec, whole, use.wanted, ownRate)
  const copied = verdict?.copies === true ? verdict : null
  const planned = spec.video.map((profile) => ({
    profile: profile.index,
    video:
      profile.copy && copied !== null
        ? copiedVideo(video, copied, sourceVideo, ownRate.value)
        : planVideo(context, profile, video, {
            container,
            picture,
            rate,
            grid,
            tallest,
            scan,
            splicePoints,
            logo,
            bitmaps,
            starts: copied?.starts ?? null,
          }),
    audio: planAudioTracks(context, profile),
  }))
  const packaged =
    spec.packaging === null ? null : planPackaging(context, spec.packaging, planned, copied?.starts ?? null)
  if (cues !== null && (packaged === null || (packaged.hls !== null && segmentForms[packaged.hls].container === 'ts')))
    for (const { audio } of planned)
      requireUnusedPid(cues, audio.length + subtitles.length, packaged === null ? spec.service : null)
  const wholeDuration = lengthWith(planned.flatMap(({ audio }) => audio))
  const sidecars = planSidecars(context, captions, {
    cut,
    duration: wholeDuration,
    segmentSeconds: packaged === null ? null : toNumber(packaged.segmentDuration),
  })
  const burnIn = bitmaps ?? planBurnIn(context, drawn, { cut, duration: wholeDuration })
  const packaging = packaged === null ? null : { ...packaged, embedded: embeddedChannels(sidecars) }
  const single = packaging === null ? spec.video : []
  const outputs = single.map((profile, position): OutputPlan => {
    const { video: plan, audio } = planned[position]!
    const muxRateKbps =
      fileRules[container].isMultiplexed && profile.mode === 'cbr'
        ? muxRate(plan.bitrateKbps, toNumber(plan.frameRate), audio) +
          (cues === null ? 0 : CUE_KBPS) +
          copiedSubtitleKbps(subtitles)
        : null
    const durationSeconds = lengthWith(audio)
    const headerReserveBytes = isMp4(container) ? moovReserve(durationSeconds, plan, audio, sidecars) : null
    return {
      profile: profile.index,
      path: outputFilePath(spec, profile, profile.rung ?? plan.height),
      container,
      contentType: fileContainers[container].contentType,
      video: plan,
      audio,
      durationSeconds,
      expectedBytes: expectedSize(durationSeconds, plan, audio, muxRateKbps, headerReserveBytes),
      headerReserveBytes,
      muxRateKbps,
    }
  })
  const audioFiles = planAudioFiles(context)
  const extracts = planExtracts(context, found)
  requireDistinctPaths(outputs, audioFiles, extracts)
  requireFewSegments(packaging, wholeDuration)

  const sourceAudio = [
    ...new Set(
      [
        ...outputs.flatMap((output) => output.audio),
        ...(packaging?.renditions ?? []).flatMap((rendition) => rendition.audio),
        ...audioFiles.map((file) => file.audio),
      ].flatMap(mixedStreams),
    ),
  ].toSorted((a, b) => a - b)
  if (sourceAudio.length === 0) context.warn(...warnLevelWithoutEffect(spec))
  return {
    version: 3,
    reads: { kind: 'file' },
    cut,
    division: null,
    packaging,
    durationSeconds: wholeDuration,
    videoOffsetSeconds: timeline.offsets.all,
    sourceAudio,
    pids: usedPids(media),
    picture,
    fields: scan.fields,
    scaler: features.zscale ? 'zscale' : 'scale',
    disableDrc: media.audio.some((stream) => sourceAudio.includes(stream.number) && isDolbyDigital(stream)),
    deepProbe: needsDeepProbe(spec, media),
    hevcCaptionsOption: features.hevcCaptions,
    cues,
    service: outputs.some((output) => fileRules[output.container].hasService) ? spec.service : null,
    subtitles,
    sidecars,
    burnIn,
    outputs,
    audioFiles,
    extracts,
    warnings: uniqueWarnings(spec.ladder === null ? context.warnings : context.warnings.map(withLadderField)),
  }
}

function planVideo(
  context: PlanContext,
  profile: VideoProfile,
  video: VideoStream,
  found: {
    container: OutputPlan['container']
    picture: SourceVideo
    rate: Rational
    /** The rate on which GOPs and splice points of all renditions lie; null = each output has its own. */
    grid: Rational | null
    /** Lines of the tallest rendition of a switching set; null = each output is a separate file. */
    tallest: number | null
    scan: SourceFields
    splicePoints: readonly number[]
    logo: LogoImage | null
    bitmaps: BitmapBurnInPlan | null
    /** Where segments begin in the copied rendition; null = there is none. */
    starts: SegmentStarts | null
  },
): VideoPlan {
  const { spec } = context
  const geometry = context.follow(planGeometry(profile, spec, uprightSize(video)))
  checkSourceSize(spec, profile, geometry.width, geometry.height)
  const { frameRate, pictureRate } = outputRate(context, profile, found.rate)
  const color = outputColor(found.picture, {
    height: geometry.height,
    rate: found.rate,
    tallestRendition: found.tallest,
  })
  const untouched = isUnprocessed(found.picture, geometry, color)
  const scan = planFields(context, profile, { video, scan: found.scan }, { geometry, untouched })
  // Captions of the two fields' frames would have to be merged again.
  const bobbed = scan.scan !== 'progressive' && scan.deinterlace === 'fields'
  const { bitmaps } = found
  return {
    codec: spec.videoCodec,
    quality: spec.quality,
    mode: profile.mode,
    bitrateKbps: profile.bitrateKbps,
    ...vbvModel(spec.videoCodec, profile.mode, profile.bitrateKbps, found.container),
    ...geometry,
    frameRate,
    pictureRate,
    ...gopOf(context, frameRate, found.grid ?? frameRate),
    spliceFrames: withSegmentStarts(
      spliceFrames(context, found.splicePoints, frameRate, found.grid ?? frameRate),
      found.starts,
      frameRate,
    ),
    ...scan,
    color,
    logo: spec.logo === null || found.logo === null ? null : planLogo(spec.logo, found.logo, geometry),
    bitmaps: bitmaps?.drawn == null ? null : placeBitmaps(bitmaps.drawn, bitmaps.codec, uprightSize(video), geometry),
    ...planFrameCaptions(context, video, {
      from: found.rate,
      to: pictureRate,
      rebuilt: bobbed || found.scan.kind === 'telecined',
    }),
    copied: null,
  }
}

function embeddedChannels(sidecars: readonly SidecarPlan[]): PackagingPlan['embedded'] {
  return sidecars.flatMap(({ embed, language, label }) => embed.map((channel) => ({ channel, language, label })))
}

/** Key frames where the copied rendition has them, so that players can switch between the two. */
function withSegmentStarts(splices: number[], starts: SegmentStarts | null, rate: Rational): number[] {
  if (starts === null) return splices
  const frames = starts.seconds.map((time) => Math.round(time * toNumber(rate))).filter((frame) => frame > 0)
  return [...new Set([...splices, ...frames])].toSorted((a, b) => a - b)
}

/** What is inside the video stays there if all of it is copied. */
function withoutCopiedLosses(spec: JobSpec, { media, verdict }: SourceUse): MediaInfo {
  if (media.video === null || !copiesAllVideo(spec, verdict)) return media
  return { ...media, video: { ...media.video, activeFormat: false, dynamicMetadata: false } }
}

export function warnSource(context: PlanContext, picture: SourceVideo): void {
  const { conversion, primaries, transfer, width, height, coded } = picture
  const blankingLines = coded?.blankingLines
  if (blankingLines !== undefined)
    context.warn({
      code: 'blanking_removed',
      message: `The source’s frames of ${width}x${height + blankingLines} begin with ${blankingLines} lines of the vertical blanking (time code, test signals, teletext), which are left out: its picture is ${width}x${height}.`,
    })
  if (conversion === 'none') return
  if (!context.features.zscale) {
    context.warn({
      code: 'colors_not_converted',
      message:
        'The source has a wider range or gamut than BT.709, and this encoder cannot convert it: colours will look flat.',
    })
    return
  }
  context.warn(
    conversion === 'toneMap'
      ? { code: 'tone_mapped', message: 'The source is HDR; the output is tone-mapped to BT.709.' }
      : {
          code: 'gamut_converted',
          message: `The source’s colours (${picture.matrix} matrix, ${primaries} primaries, ${transfer} transfer) are converted to those of SDR video.`,
        },
  )
}

/** Warns where no output carries audio whose level could be set. */
function warnLevelWithoutEffect({ audioVolume, loudnessLufs }: JobSpec): Warning[] {
  const fields = [...(audioVolume === 100 ? [] : ['audio_volume']), ...(loudnessLufs === null ? [] : ['loudness_lufs'])]
  return fields.map((field) => ({
    code: 'no_effect',
    field,
    message: `${field} has no effect: no output carries audio.`,
  }))
}

/** A request with a ladder has no video profiles, so a warning names the ladder instead. */
function withLadderField(warning: Warning): Warning {
  return warning.field?.startsWith('videoProfiles[') === true ? { ...warning, field: 'ladder' } : warning
}

export function uniqueWarnings(warnings: readonly Warning[]): Warning[] {
  const seen = new Map(
    warnings.map((warning) => [`${warning.code} ${warning.field ?? ''} ${warning.message}`, warning]),
  )
  return [...seen.values()]
}
