// In charge of: the rules of RFC 8216bis that hold for finished playlists, checked on the text alone and independently
// of the code that writes it.
// Not in charge of: whether players accept the playlists; the content of the segments.

type Attributes = Map<string, string>
interface Tag {
  name: string
  value: string
}
interface Media {
  path: string
  tags: Tag[]
  segments: { uri: string; duration: number; range: string | null }[]
}

/** Every violation as a sentence; `playlists` by path, the multivariant one under `master`. */
export function hlsRuleViolations(playlists: ReadonlyMap<string, string>, master = 'master.m3u8'): string[] {
  const found: string[] = []
  const say = (path: string, rule: string) => found.push(`${path}: ${rule}`)
  for (const [path, text] of playlists) syntax(path, text, say)
  const multivariant = readTags(playlists.get(master) ?? '')
  const kinds = new Map<string, string>()
  checkMaster(master, multivariant, playlists, kinds, say)
  const media = [...playlists].filter(([path]) => path !== master).map(([path, text]) => readMedia(path, text))
  for (const one of media) {
    if (!kinds.has(one.path)) say(one.path, 'nothing points at this playlist')
    checkMedia(one, say)
  }
  checkTogether(media, kinds, say)
  return found
}

type Say = (path: string, rule: string) => void

function syntax(path: string, text: string, say: Say): void {
  if (!text.startsWith('#EXTM3U\n')) say(path, '4.4.1.1: EXTM3U is not the first line')
  // oxlint-disable-next-line eslint/no-control-regex -- 4: no controls but line feeds
  if (/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\uFEFF]/.test(text)) say(path, '4: a control character')
  if (!text.endsWith('\n')) say(path, 'the last line does not end')
  const once = ['EXTM3U', 'EXT-X-VERSION', 'EXT-X-TARGETDURATION', 'EXT-X-MEDIA-SEQUENCE', 'EXT-X-PLAYLIST-TYPE']
  const tags = readTags(text)
  for (const name of [...once, 'EXT-X-ENDLIST', 'EXT-X-INDEPENDENT-SEGMENTS', 'EXT-X-I-FRAMES-ONLY'])
    if (tags.filter((tag) => tag.name === name).length > 1) say(path, `${name} more than once`)
  for (const { name, value } of tags.filter((tag) => LISTS.has(tag.name))) {
    const problem = listProblem(value)
    if (problem !== null) say(path, `${name}: ${problem}`)
  }
}

const LISTS = new Set(
  (
    'EXT-X-MEDIA EXT-X-STREAM-INF EXT-X-I-FRAME-STREAM-INF EXT-X-IMAGE-STREAM-INF ' +
    'EXT-X-MAP EXT-X-DATERANGE EXT-X-TILES EXT-X-CUE-OUT-CONT'
  ).split(' '),
)
const ATTRIBUTE = /([A-Za-z0-9-]+)=("[^"]*"|[^",\s]+)(?:,|$)/gy

function listProblem(list: string): string | null {
  const names = new Set<string>()
  let read = 0
  for (const [all, name] of list.matchAll(ATTRIBUTE)) {
    if (names.has(name!)) return `4.2: ${name} twice`
    names.add(name!)
    read += all.length
  }
  return read === list.length ? null : `4.2: not an attribute list: ${list}`
}

export function parseAttributes(list: string): Attributes {
  return new Map(
    [...list.matchAll(ATTRIBUTE)].map(([, name, value]) => [
      name!,
      value!.startsWith('"') ? value!.slice(1, -1) : value!,
    ]),
  )
}

/** Lines that are not tags are `uri`. */
export function readTags(text: string): Tag[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, name, value] = /^#(EXT[A-Z0-9-]*)(?::(.*))?$/.exec(line) ?? []
      return name === undefined ? { name: 'uri', value: line } : { name, value: value ?? '' }
    })
}

function readMedia(path: string, text: string): Media {
  const tags = readTags(text)
  const media: Media = { path, tags, segments: [] }
  let [duration, range]: [number | null, string | null] = [null, null]
  for (const { name, value } of tags) {
    if (name === 'EXTINF') duration = Number.parseFloat(value)
    if (name === 'EXT-X-BYTERANGE') range = value
    if (name !== 'uri') continue
    media.segments.push({ uri: value, duration: duration ?? Number.NaN, range })
    ;[duration, range] = [null, null]
  }
  return media
}

/** A path as a playlist names it, relative to the directory of all playlists. */
export function resolveFrom(from: string, uri: string): string {
  return decodeURIComponent(new URL(uri, `http://host/${from}`).pathname.slice(1))
}

function checkMaster(
  path: string,
  tags: Tag[],
  files: ReadonlyMap<string, string>,
  kinds: Map<string, string>,
  say: Say,
): void {
  const groups = new Map<string, Attributes[]>()
  const point = (uri: string, kind: string) => {
    const target = resolveFrom(path, uri)
    kinds.set(target, kind)
    if (!files.has(target)) say(path, `${target} does not exist`)
  }
  for (const { value } of tags.filter(({ name }) => name === 'EXT-X-MEDIA')) {
    const media = parseAttributes(value)
    const type = media.get('TYPE') ?? ''
    for (const required of ['TYPE', 'GROUP-ID', 'NAME'])
      if (!media.has(required)) say(path, `4.4.6.1: EXT-X-MEDIA without ${required}`)
    const key = `${type} ${media.get('GROUP-ID')}`
    groups.set(key, [...(groups.get(key) ?? []), media])
    if (type === 'CLOSED-CAPTIONS') {
      if (media.has('URI')) say(path, '4.4.6.1: captions have no URI')
      if (!/^(CC[1-4]|SERVICE([1-9]|[1-5]\d|6[0-3]))$/.test(media.get('INSTREAM-ID') ?? ''))
        say(path, '4.4.6.1: INSTREAM-ID')
    } else if (media.has('INSTREAM-ID')) say(path, '4.4.6.1: INSTREAM-ID is of captions only')
    if (type === 'SUBTITLES' && !media.has('URI')) say(path, '4.4.6.1: subtitles need a URI')
    if (media.has('FORCED') && type !== 'SUBTITLES') say(path, '4.4.6.1: FORCED is of subtitles only')
    if (media.get('DEFAULT') === 'YES' && media.get('AUTOSELECT') === 'NO')
      say(path, '4.4.6.1: DEFAULT without AUTOSELECT')
    if (media.has('URI')) point(media.get('URI')!, type)
  }
  for (const [key, members] of groups) {
    const names = members.map((member) => member.get('NAME'))
    if (new Set(names).size !== names.length) say(path, `4.4.6.1.1: a NAME twice in ${key}`)
    if (members.filter((member) => member.get('DEFAULT') === 'YES').length > 1)
      say(path, `4.4.6.1.1: two defaults in ${key}`)
    const chosen = members
      .filter((member) => member.get('AUTOSELECT') === 'YES')
      .map((member) => ['LANGUAGE', 'FORCED', 'CHARACTERISTICS'].map((name) => member.get(name)).join(' '))
    if (new Set(chosen).size !== chosen.length) say(path, `4.4.6.1.1: AUTOSELECT cannot choose in ${key}`)
    for (const [other, twins] of groups)
      if (other.split(' ')[0] === key.split(' ')[0] && contentOf(members) !== contentOf(twins))
        say(path, `4.4.6.1.1: ${key} and ${other} have different members`)
  }
  const captions = new Set<string>()
  tags.forEach(({ name, value }, at) => {
    if (name === 'EXT-X-I-FRAME-STREAM-INF' || name === 'EXT-X-IMAGE-STREAM-INF') {
      const list = parseAttributes(value)
      if (!list.has('URI') || !list.has('BANDWIDTH')) say(path, `4.4.6.3: ${name} without URI or BANDWIDTH`)
      for (const wrong of ['FRAME-RATE', 'AUDIO', 'SUBTITLES', 'CLOSED-CAPTIONS'])
        if (list.has(wrong)) say(path, `4.4.6.3: ${name} with ${wrong}`)
      point(list.get('URI') ?? '', name === 'EXT-X-I-FRAME-STREAM-INF' ? 'IFRAMES' : 'IMAGES')
    }
    if (name !== 'EXT-X-STREAM-INF') return
    const list = parseAttributes(value)
    if (tags[at + 1]?.name !== 'uri') say(path, '4.4.6.2: no URI line follows')
    else point(tags[at + 1]!.value, 'VIDEO')
    if (!/^[1-9]\d*$/.test(list.get('BANDWIDTH') ?? '')) say(path, '4.4.6.2: BANDWIDTH')
    if (Number(list.get('AVERAGE-BANDWIDTH') ?? 0) > Number(list.get('BANDWIDTH')))
      say(path, 'the average is above the peak')
    for (const type of ['AUDIO', 'SUBTITLES', 'CLOSED-CAPTIONS']) {
      const group = list.get(type)
      if (group !== undefined && group !== 'NONE' && !groups.has(`${type} ${group}`))
        say(path, `4.4.6.2: there is no group ${group} of ${type}`)
    }
    captions.add(list.get('CLOSED-CAPTIONS') === 'NONE' ? 'none' : 'some')
  })
  if (captions.size > 1) say(path, '4.4.6.2: CLOSED-CAPTIONS=NONE must stand on all variants')
  const version = Number(tags.find(({ name }) => name === 'EXT-X-VERSION')?.value ?? 1)
  if (tags.some(({ value }) => value.includes('INSTREAM-ID="SERVICE')) && version < 7)
    say(path, '8: SERVICE needs version 7')
}

/** What the members of two groups of one type must have in common. */
function contentOf(members: readonly Attributes[]): string {
  const free = new Set(['GROUP-ID', 'URI', 'CHANNELS', 'BIT-DEPTH', 'SAMPLE-RATE'])
  return members
    .map((member) => [...member].filter(([name]) => !free.has(name)).join(';'))
    .toSorted()
    .join('\n')
}

function one(media: Media, name: string): string | undefined {
  return media.tags.find((tag) => tag.name === name)?.value
}

function checkMedia(media: Media, say: Say): void {
  const { path, tags, segments } = media
  const has = (name: string) => tags.some((tag) => tag.name === name)
  const target = Number(one(media, 'EXT-X-TARGETDURATION') ?? Number.NaN)
  if (!Number.isInteger(target) || target < 1) say(path, '4.4.3.1: TARGETDURATION')
  if (segments.length === 0) say(path, 'no segments')
  if (!has('EXT-X-ENDLIST') || one(media, 'EXT-X-PLAYLIST-TYPE') !== 'VOD') say(path, '4.4.3.5: not a finished VOD')
  if (tags.at(-1)?.name === 'uri') say(path, 'segments behind ENDLIST')
  for (const { uri, duration, range } of segments) {
    if (Number.isNaN(duration)) say(path, `4.4.4.1: ${uri} has no EXTINF`)
    if (Math.round(duration) > target) say(path, `4.4.3.1: ${uri} is longer than the target`)
    if (duration <= 0) say(path, `${uri} has no duration`)
    if (range !== null && !/^[1-9]\d*@\d+$/.test(range)) say(path, `4.4.4.2: ${range}`)
  }
  const pieces = segments.map(({ uri, range }) => `${uri} ${range}`)
  if (new Set(pieces).size !== pieces.length) say(path, 'a segment twice')
  const keyFrames = has('EXT-X-I-FRAMES-ONLY')
  const needed = Math.max(
    1,
    /#EXTINF:\d+\./.test(`#EXTINF:${one(media, 'EXTINF') ?? ''}`) ? 3 : 1,
    keyFrames || segments.some(({ range }) => range !== null) ? 4 : 1,
    has('EXT-X-MAP') ? (keyFrames ? 5 : 6) : 1,
  )
  if (Number(one(media, 'EXT-X-VERSION') ?? 1) < needed) say(path, `8: needs version ${needed}`)
  if (segments.some(({ uri }) => uri.endsWith('.m4s')) && !has('EXT-X-MAP')) say(path, '3.1.2: fMP4 without EXT-X-MAP')
  checkDates(media, say)
}

function checkDates({ path, tags }: Media, say: Say): void {
  const ranges = tags.filter(({ name }) => name === 'EXT-X-DATERANGE').map(({ value }) => parseAttributes(value))
  if (ranges.length > 0 && !tags.some(({ name }) => name === 'EXT-X-PROGRAM-DATE-TIME'))
    say(path, '4.4.5.1: a date range without PROGRAM-DATE-TIME')
  const ids = new Map<string, Attributes>()
  for (const range of ranges) {
    const id = range.get('ID')
    if (id === undefined || Number.isNaN(Date.parse(range.get('START-DATE') ?? '')))
      say(path, '4.4.5.1: ID or START-DATE')
    for (const name of ['DURATION', 'PLANNED-DURATION'])
      if (Number(range.get(name) ?? 0) < 0) say(path, `4.4.5.1: ${name} is negative`)
    for (const name of ['SCTE35-CMD', 'SCTE35-OUT', 'SCTE35-IN'])
      if (range.has(name) && !/^0x([0-9A-F]{2})+$/.test(range.get(name)!)) say(path, `4.4.5.1.1: ${name}`)
    for (const [name, value] of ids.get(id ?? '') ?? [])
      if (range.has(name) && range.get(name) !== value) say(path, `4.4.5.1: ${id} says ${name} twice, and differently`)
    ids.set(id ?? '', range)
  }
  let away = false
  for (const { name } of tags) {
    if (name === 'EXT-X-CUE-OUT-CONT' && !away) say(path, 'CUE-OUT-CONT outside of a break')
    if (name === 'EXT-X-CUE-OUT' && away) say(path, 'CUE-OUT inside of a break')
    if (name === 'EXT-X-CUE-IN' && !away) say(path, 'CUE-IN outside of a break')
    if (name === 'EXT-X-CUE-OUT') away = true
    if (name === 'EXT-X-CUE-IN') away = false
  }
}

function checkTogether(media: readonly Media[], kinds: ReadonlyMap<string, string>, say: Say): void {
  const main = media.filter(({ path }) => ['VIDEO', 'AUDIO'].includes(kinds.get(path) ?? ''))
  if (new Set(main.map((playlist) => one(playlist, 'EXT-X-TARGETDURATION'))).size > 1)
    say('all', '6.2.4: playlists have different target durations')
  const dated = media.filter((playlist) => one(playlist, 'EXT-X-PROGRAM-DATE-TIME') !== undefined)
  if (dated.length > 0 && dated.length < media.length) say('all', '6.2.4: only some playlists have dates')
  const first = media.find(({ path }) => kinds.get(path) === 'VIDEO')
  for (const other of media) {
    const kind = kinds.get(other.path)
    if (first === undefined || kind === undefined || kind === 'IFRAMES' || kind === 'IMAGES') continue
    const [expected, actual] = [segmentBoundaries(first), segmentBoundaries(other)]
    if (expected.length !== actual.length)
      say(other.path, `has ${actual.length} segments, ${first.path} ${expected.length}`)
    // Audio is cut at whole frames, so the tolerance is one audio frame.
    const tolerance = kind === 'VIDEO' ? 0.000_001 : 0.05
    const off = expected.findIndex((time, at) => Math.abs(time - (actual[at] ?? Number.NaN)) > tolerance)
    if (off !== -1) say(other.path, `segment ${off} does not end where ${first.path} has it end`)
  }
}

/** Ends of the segments in seconds. */
export function segmentBoundaries({ segments }: Pick<Media, 'segments'>): number[] {
  let micros = 0
  return segments.map(({ duration }) => {
    micros += Math.round(duration * 1_000_000)
    return micros / 1_000_000
  })
}
