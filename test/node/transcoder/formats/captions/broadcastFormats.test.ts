// In charge of: reading TTML, SCC and EBU STL files: exact times, text, styles, places, programme starts, and what is
// refused.
// Not in charge of: the tracks of outputs (test/node/transcoder/pipeline/sidecarCaptions.test.ts).
import { describe, expect, test } from 'vitest'
import { plainText, type CaptionCue } from '../../../../../transcoder/formats/captions/captionCue.ts'
import { formatCueSettings } from '../../../../../transcoder/formats/captions/cueSettings.ts'
import { readCaptions } from '../../../../../transcoder/formats/captions/readCaptions.ts'
import { stlFile, stlText } from '../../../../support/captions/stlFile.ts'

const read = (content: string | Buffer, offsetSeconds: number | null = null) =>
  readCaptions(new Uint8Array(Buffer.from(content)), { format: null, offsetSeconds })
const listed = (cues: readonly CaptionCue[]) => cues.map((cue) => [cue.start, cue.end, plainText(cue)])
const times = (cues: readonly CaptionCue[]) => cues.map(({ start, end }) => [start, end])
const styled = ({ lines }: CaptionCue) =>
  lines.map((runs) =>
    runs.map(
      ({ text, bold, italic, underline }) => `${bold ? 'b' : ''}${italic ? 'i' : ''}${underline ? 'u' : ''}:${text}`,
    ),
  )

const NAMESPACES =
  'xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xmlns:smpte="http://www.smpte-ra.org/schemas/2052-1/2010/smpte-tt"'
const ttml = (body: string, { root = '', head = '' } = {}) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<tt ${NAMESPACES} xml:lang="en" ${root}><head>${head}</head><body>${body}</body></tt>`

describe('TTML', () => {
  test.for([
    ['clock time', '', '00:00:01.25', 1.25],
    ['clock time with frames, 25', 'ttp:frameRate="25"', '00:00:01:05', 1.2],
    ['30 frames are assumed', '', '00:00:01:15', 1.5],
    ['29.97', 'ttp:frameRate="30" ttp:frameRateMultiplier="1000 1001"', '30f', 1.001],
    ['23.976 with a colon', 'ttp:frameRate="24" ttp:frameRateMultiplier="1000:1001"', '24f', 1.001],
    ['subframes', 'ttp:frameRate="25" ttp:subFrameRate="2"', '00:00:01:05.1', 1.22],
    ['ticks', 'ttp:tickRate="10000000"', '15000000t', 1.5],
    ['offsets', '', '0.025m', 1.5],
    ['milliseconds', '', '1500ms', 1.5],
    [
      'timecode, not dropped',
      'ttp:timeBase="smpte" ttp:frameRate="30" ttp:frameRateMultiplier="1000 1001"',
      '00:01:00:00',
      60.06,
    ],
    [
      'timecode, dropped',
      'ttp:timeBase="smpte" ttp:dropMode="dropNTSC" ttp:frameRate="30" ttp:frameRateMultiplier="1000 1001"',
      '00:01:00:02',
      60.06,
    ],
  ] as const)('times: %s', ([, root, begin, seconds]) => {
    const { cues } = read(ttml(`<div><p begin="${begin}" dur="1s">x</p></div>`, { root }))
    expect(cues[0]?.start).toBeCloseTo(seconds, 9)
  })

  test('a timecode of one hour is the start of the programme, unless an offset is given', () => {
    const file = ttml('<p begin="10:00:01:05" end="10:00:02:00">x</p>', {
      root: 'ttp:timeBase="smpte" ttp:frameRate="25"',
    })
    expect(read(file)).toMatchObject({
      cues: [{ start: expect.closeTo(1.2, 9), end: expect.closeTo(2, 9) }],
      remarks: [{ kind: 'programme start' }],
    })
    expect(times(read(file, 0).cues)).toEqual([[36_001.2, 36_002]])
    expect(times(read(file, -36_000).cues)).toEqual([[expect.closeTo(1.2, 9), 2]])
  })

  test('nested times, sequences, and times of words', () => {
    const { cues } = read(
      ttml(
        '<div begin="10s"><p begin="1s" end="2s">in div</p><p begin="3s" dur="2s"><span end="1s">one</span> <span begin="1s">two</span></p></div>' +
          '<div timeContainer="seq" begin="100s"><p dur="1s">first</p><p begin="1s" dur="1s">second</p></div>',
      ),
    )
    expect(listed(cues)).toEqual([
      [11, 12, 'in div'],
      [13, 14, 'one'],
      [14, 15, 'two'],
      [100, 101, 'first'],
      [102, 103, 'second'],
    ])
  })

  test('styles, blanks, line breaks, metadata, ruby', () => {
    const head =
      '<styling><style xml:id="a" tts:fontStyle="italic"/><style xml:id="b" style="a" tts:fontWeight="bold"/></styling>'
    const { cues } = read(
      ttml(
        '<p begin="0s" end="1s" style="b"><metadata>secret</metadata>\n  Bold   and\n<span tts:fontStyle="normal" tts:textDecoration="underline">under</span><br/>  next &amp; &lt;b&gt; <span tts:display="none">gone</span></p>' +
          '<p begin="1s" end="2s" xml:space="preserve">a  b</p>' +
          '<p begin="2s" end="3s"><span tts:ruby="base">漢字</span><span tts:ruby="text">かんじ</span></p>',
        { head },
      ),
    )
    expect(cues.map(styled)).toEqual([[['bi:Bold and ', 'bu:under'], ['bi:next & <b>']], [[':a  b']], [[':漢字']]])
  })

  test('regions become places', () => {
    const head =
      '<layout><region xml:id="top" tts:origin="10% 5%" tts:extent="80% 20%" tts:displayAlign="before" tts:textAlign="center"/>' +
      '<region xml:id="low" tts:origin="64px 288px" tts:extent="512px 54px"><style tts:displayAlign="after"/></region>' +
      '<region xml:id="cells" tts:origin="4c 10c" tts:extent="24c 3c" tts:displayAlign="center"/></layout>'
    const { cues } = read(
      ttml(
        '<p region="top" begin="0s" end="1s">a</p><p region="low" tts:textAlign="right" begin="1s" end="2s">b</p>' +
          '<div region="cells"><p begin="2s" end="3s">c</p></div><p begin="3s" end="4s">d</p>',
        { head, root: 'tts:extent="640px 360px"' },
      ),
    )
    expect(cues.map(({ place }) => formatCueSettings(place))).toEqual([
      'line:5% position:50%,center size:80% align:center',
      'line:95%,end position:90%,line-right size:80% align:right',
      'line:76.67%,center position:12.5%,line-left size:75% align:start',
      '',
    ])
  })

  test('the drafts of TTML, another encoding, prefixes', () => {
    const file =
      '<?xml version="1.0" encoding="ISO-8859-1"?><x:tt xmlns:x="http://www.w3.org/2006/10/ttaf1"><x:body><x:p begin="1s" end="2s">\xe9</x:p></x:body></x:tt>'
    expect(listed(read(Buffer.from(file, 'latin1')).cues)).toEqual([[1, 2, 'é']])
  })

  test.for([
    ['broken XML', ttml('<p begin="0s" end="1s">x</div>'), 2, 'not well-formed'],
    [
      'an entity of its own',
      `<!DOCTYPE tt [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${ttml('<p begin="0s" end="1s">&b;</p>').replace(/^<\?.*\n/, '')}`,
      1,
      'not well-formed',
    ],
    [
      'an external entity',
      `<!DOCTYPE tt [<!ENTITY a SYSTEM "file:///etc/passwd">]>${ttml('<p begin="0s" end="1s">&a;</p>').replace(/^<\?.*\n/, '')}`,
      1,
      'not well-formed',
    ],
    ['images', ttml('<p begin="0s" end="1s" smpte:backgroundImage="#x"/>'), 2, 'images'],
    ['a time that is none', ttml('<p begin="soon" end="1s">x</p>'), 2, 'time'],
    ['a rate of 0', ttml('', { root: 'ttp:frameRate="0"' }), 2, 'frameRate'],
    ['other XML', '<?xml version="1.0"?><rss/>', 1, 'root element'],
    ['elements without end', ttml('<div>'.repeat(100)), 2, 'nested'],
    ['an unknown encoding', '<?xml version="1.0" encoding="x-mine"?><tt/>', 1, 'encoding'],
  ] as const)('%s is refused', ([, content, line, message]) => {
    expect(() => read(content)).toThrow(
      expect.objectContaining({ name: 'CaptionError', line, message: expect.stringContaining(message) }),
    )
  })
})

describe('SCC', () => {
  // ENM RCL PAC(15) "Hello" EOC, each control code twice: 12 words; the caption appears with the first EOC, the 10th word.
  const POP_ON = '94ae 94ae 9420 9420 9470 9470 c8e5 ecec ef80 942f 942f'
  const ERASE = '942c 942c'
  const frames = (count: number) => (count * 1001) / 30_000
  test('pop-on captions, with and without dropped numbers', () => {
    const dropped = read(`Scenarist_SCC V1.0\n\n00:01:00;02\t${POP_ON}\n\n00:01:03;00\t${ERASE}\n`)
    expect(dropped.format).toBe('scc')
    expect(listed(dropped.cues)).toEqual([[expect.closeTo(frames(1809), 6), expect.closeTo(frames(1888), 6), 'Hello']])
    const counted = read(`Scenarist_SCC V1.0\n\n00:01:00:02\t${POP_ON}\n\n00:01:03:00\t${ERASE}\n`)
    expect(times(counted.cues)).toEqual([[expect.closeTo(frames(1811), 6), expect.closeTo(frames(1890), 6)]])
    expect(formatCueSettings(counted.cues[0]!.place)).toMatch(/^line:\S+,end position:\S+ align:start$/)
  })
  test('a start at one hour is taken off in its own counting', () => {
    const file = `Scenarist_SCC V1.0\n\n01:00:00:00\t${POP_ON}\n\n01:00:02:00\t${ERASE}\n`
    expect(read(file)).toMatchObject({ remarks: [{ kind: 'programme start' }] })
    expect(times(read(file).cues)).toEqual([[expect.closeTo(frames(9), 6), expect.closeTo(frames(60), 6)]])
    expect(read(file, 0).cues[0]?.start).toBeCloseTo(3603.6 + frames(9), 6)
  })
  test('codes without parity, codes sent once, two captions, one that nothing removes', () => {
    const plain = '1420 1470 4865 6c6c 6f00 142f'
    const { cues } = read(`Scenarist_SCC V1.0\n\n00:00:01:00 ${plain}\n00:00:03:00 1420 1470 4279 6500 142f\n`)
    expect(cues.map(plainText)).toEqual(['Hello', 'Bye'])
    expect(cues[0]!.end).toBeCloseTo(frames(94), 6)
    expect(cues[1]!.end).toBeCloseTo(frames(94) + 5, 6)
  })
  test.for([
    ['a word that is none', 'Scenarist_SCC V1.0\n\n00:00:01:00\t94ae 94a\n', 3],
    ['no timecode', 'Scenarist_SCC V1.0\n\n94ae 94ae\n', 3],
  ] as const)('%s is refused', ([, content, line]) => {
    expect(() => read(content)).toThrow(expect.objectContaining({ line }))
  })
})

describe('EBU STL', () => {
  const hello = { first: '10:00:01:05', last: '10:00:02:00', text: stlText('Hello') }
  test('times are exact, and count from the start of the programme', () => {
    expect(times(read(stlFile([hello], { programmeStart: '10:00:00:00' })).cues)).toEqual([
      [expect.closeTo(1.2, 9), expect.closeTo(2, 9)],
    ])
    expect(read(stlFile([hello], { programmeStart: '10:00:00:00' })).remarks).toEqual([])
    // A header without a start, and one that is after the first subtitle.
    for (const programmeStart of ['00:00:00:00', '11:00:00:00', '        '])
      expect(read(stlFile([hello], { programmeStart }))).toMatchObject({ remarks: [{ kind: 'programme start' }] })
    expect(times(read(stlFile([hello]), 0).cues)).toEqual([[36_001.2, 36_002]])
    const other = { ...hello, first: '00:00:01:15', last: '00:00:02:00' }
    expect(read(stlFile([other], { format: 'STL30.01' })).cues[0]?.start).toBeCloseTo((45 * 1001) / 30_000, 9)
  })
  test('text: styles, diacritics, double height, several blocks, comments', () => {
    const long = 'x'.repeat(150)
    const { cues } = read(
      stlFile([
        {
          first: '00:00:01:00',
          last: '00:00:02:00',
          text: [
            0x0d,
            0x0b,
            0x0b,
            ...stlText('na'),
            0xc8,
            0x69,
            ...stlText('ve '),
            0x80,
            ...stlText('it'),
            0x81,
            0x8a,
            0x8a,
            0x82,
            0xfb,
            0x83,
            0x0a,
            0x0a,
          ],
          row: 20,
        },
        { first: '00:00:03:00', last: '00:00:04:00', text: stlText(long) },
        { first: '00:00:05:00', last: '00:00:06:00', text: stlText('not shown'), comment: true },
        { first: '00:00:07:00', last: '00:00:08:00', text: stlText('top'), row: 2, justification: 1 },
      ]),
    )
    expect(cues.map(styled)).toEqual([[[':naïve ', 'i:it'], ['u:ß']], [[`:${long}`]], [[':top']]])
    expect(cues.map(({ place }) => formatCueSettings(place))).toEqual([
      'line:100%,end',
      'line:86.96%,end',
      'line:4.35% position:5% align:left',
    ])
  })
  test.for([
    ['01', [0xbf, 0xe0], 'Пр'],
    ['03', [0xc1, 0xe1], 'Αα'],
    ['04', [0xe9, 0xec], 'יל'],
  ] as const)('character table %s', ([table, text, shown]) => {
    const { cues } = read(stlFile([{ first: '00:00:01:00', last: '00:00:02:00', text: [...text] }], { table }))
    expect(cues.map(plainText)).toEqual([shown])
  })
  test.for([
    ['a frame rate that does not exist', stlFile([hello], { format: 'STL12.01' }), 'disk format code'],
    ['an unknown character table', stlFile([hello], { table: '09' }), 'character code table'],
  ] as const)('%s is refused', ([, content, message]) => {
    expect(() => read(content)).toThrow(message)
  })
})
