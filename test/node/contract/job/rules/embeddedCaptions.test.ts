// In charge of: the rules of embed and embed_channel in a request.
// Not in charge of: what becomes of the captions (test/node/transcoder/pipeline/embeddedCaptions.test.ts).
import { expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'

const caption = (fields: object = {}) => ({ input: 'https://h.example/a.srt', language: 'en', ...fields })

function validate(captions: object[], fields: object = {}) {
  return validateJob(
    {
      input: 'https://example.com/clip.mp4',
      output_container: 'ts',
      video_codec: 'h.264',
      cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
      videoProfiles: [{ output: 'out/v.ts', width: 320, height: 180, video_bitrate: 400 }],
      audioProfiles: [],
      captions,
      ...fields,
    },
    { baseUrl: 'http://127.0.0.1' },
  )
}

function problems(result: ReturnType<typeof validate>) {
  return result.ok ? [] : result.problems.map(({ code, field }) => [code, field])
}
const effects = (result: ReturnType<typeof validate>) =>
  result.ok ? result.warnings.filter(({ code }) => code === 'no_effect').map(({ field }) => field) : null

const embed = 'cea-608'

test('two files cannot have one channel, and a fifth has none', () => {
  const twice = [caption({ embed, embed_channel: 'CC3' }), caption({ embed, embed_channel: 'CC3' })]
  expect(problems(validate(twice))).toEqual([['conflict', 'captions[1].embed_channel']])
  expect(problems(validate(Array.from({ length: 5 }, () => caption({ embed }))))).toEqual([
    ['conflict', 'captions[4].embed'],
  ])
})

test('a ts file carries what is embedded; other files and a channel alone have no effect', () => {
  expect(effects(validate([caption({ embed }), caption()]))).toEqual(['captions[1]'])
  expect(effects(validate([caption({ embed_channel: 'CC2' })]))).toEqual(['captions[0].embed_channel', 'captions'])
  expect(effects(validate([caption({ embed })]))).toEqual([])
})

test('copied video is refused', () => {
  expect(problems(validate([caption({ embed })], { video_codec: 'copy' }))).toContainEqual([
    'unsupported_combination',
    'captions[0].embed',
  ])
})
