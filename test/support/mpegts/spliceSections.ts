// In charge of: hand-made splice_info_sections, written field by field and independently of the code under test, and
// published ones.
// Not in charge of: expectations.

/** Fields of [value, bits], most significant first. */
type Fields = readonly (readonly [number, number])[]

export function packBits(fields: Fields): Uint8Array {
  const bits = fields.map(([value, width]) => BigInt(value).toString(2).padStart(width, '0').slice(-width)).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

/** CRC-32/MPEG-2 by polynomial division, bit by bit. */
export function referenceCrc32(bytes: Uint8Array): number {
  let register = 0xffffffffn
  for (const byte of bytes)
    for (let bit = 7; bit >= 0; bit--) {
      const top = (register >> 31n) ^ BigInt((byte >> bit) & 1)
      register = ((register << 1n) & 0xffffffffn) ^ (top === 1n ? 0x04c11db7n : 0n)
    }
  return Number(register)
}

export function withCrc(body: Uint8Array): Uint8Array {
  return Uint8Array.from([...body, ...packBits([[referenceCrc32(body), 32]])])
}

export interface SectionFields {
  type: number
  command?: Fields
  adjustment?: number
  descriptors?: Uint8Array
  encrypted?: boolean
  protocol?: number
  /** splice_command_length 0xFFF, as older equipment writes it. */
  lengthUnknown?: boolean
}

export function spliceSection(fields: SectionFields): Uint8Array {
  const { type, adjustment = 0, descriptors = new Uint8Array(0), encrypted = false, protocol = 0 } = fields
  const command = packBits(fields.command ?? [])
  const crypt = encrypted ? packBits([[0xdeadbeef, 32]]) : new Uint8Array(0)
  const length = 11 + command.length + 2 + descriptors.length + crypt.length + 4
  const commandLength = fields.lengthUnknown === true ? 0xfff : command.length
  const head = packBits([
    ...([
      [0xfc, 8],
      [0, 1],
      [0, 1],
      [3, 2],
      [length, 12],
      [protocol, 8],
    ] as const),
    ...([
      [encrypted ? 1 : 0, 1],
      [encrypted ? 2 : 0, 6],
      [adjustment, 33],
      [0, 8],
      [0xfff, 12],
    ] as const),
    ...([
      [commandLength, 12],
      [type, 8],
    ] as const),
  ])
  return withCrc(
    Uint8Array.from([...head, ...command, ...packBits([[descriptors.length, 16]]), ...descriptors, ...crypt]),
  )
}

const time = (pts: number | null): Fields =>
  pts === null
    ? [
        [0, 1],
        [127, 7],
      ]
    : [
        [1, 1],
        [63, 6],
        [pts, 33],
      ]

export interface InsertFields {
  eventId: number
  out: boolean
  /** null = splice_immediate. */
  pts: number | null
  breakTicks?: number
  autoReturn?: boolean
}

export function spliceInsert(fields: InsertFields, sectionFields: Partial<SectionFields> = {}): Uint8Array {
  const { eventId, out, pts, breakTicks, autoReturn = false } = fields
  const command: Fields = [
    ...([
      [eventId, 32],
      [0, 1],
      [127, 7],
      [out ? 1 : 0, 1],
      [1, 1],
      [breakTicks === undefined ? 0 : 1, 1],
    ] as const),
    ...([
      [pts === null ? 1 : 0, 1],
      [15, 4],
    ] as const),
    ...(pts === null ? [] : time(pts)),
    ...(breakTicks === undefined
      ? []
      : ([
          [autoReturn ? 1 : 0, 1],
          [63, 6],
          [breakTicks, 33],
        ] as const)),
    ...([
      [1, 16],
      [0, 8],
      [0, 8],
    ] as const),
  ]
  return spliceSection({ type: 5, command, ...sectionFields })
}

export function componentInsert(eventId: number, components: readonly (readonly [number, number])[]): Uint8Array {
  const command: Fields = [
    ...([
      [eventId, 32],
      [0, 1],
      [127, 7],
      [1, 1],
      [0, 1],
      [0, 1],
      [0, 1],
      [15, 4],
      [components.length, 8],
    ] as const),
    ...components.flatMap(([tag, pts]): Fields => [[tag, 8], ...time(pts)]),
    ...([
      [1, 16],
      [0, 8],
      [0, 8],
    ] as const),
  ]
  return spliceSection({ type: 5, command })
}

export function timeSignal(pts: number | null, sectionFields: Partial<SectionFields> = {}): Uint8Array {
  return spliceSection({ type: 6, command: time(pts), ...sectionFields })
}

/** segmentation_descriptor for the whole program, without delivery restrictions. */
export function segmentation(eventId: number, type: number, durationTicks: number | null, upid = ''): Uint8Array {
  const name = [...new TextEncoder().encode(upid)]
  const fields: Fields = [
    ...([
      [0x43554549, 32],
      [eventId, 32],
      [0, 1],
      [127, 7],
      [1, 1],
      [durationTicks === null ? 0 : 1, 1],
      [1, 1],
    ] as const),
    [31, 5],
    ...(durationTicks === null ? [] : ([[durationTicks, 40]] as const)),
    ...([[upid === '' ? 0 : 0x0c, 8], [name.length, 8], ...name.map((byte) => [byte, 8] as const)] as const),
    ...([
      [type, 8],
      [0, 8],
      [0, 8],
    ] as const),
  ]
  const body = packBits(fields)
  return Uint8Array.from([0x02, body.length, ...body])
}

/** ANSI/SCTE 35 2019, section 14 (samples), as printed there. */
export const publishedSections = {
  timeSignal: '/DA0AAAAAAAA///wBQb+cr0AUAAeAhxDVUVJSAAAjn/PAAGlmbAICAAAAAAsoKGKNAIAmsnRfg==',
  insert: '/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=',
  placementStart: '/DAvAAAAAAAA///wBQb+dGKQoAAZAhdDVUVJSAAAjn+fCAgAAAAALKChijUCAKnMZ1g=',
} as const

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'base64'))
}
