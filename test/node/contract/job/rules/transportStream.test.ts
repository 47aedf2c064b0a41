// ts_profile and the fields that belong to it: the plan, conflicts, and where it has no effect.
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { describe, expect, test } from 'vitest'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { expectAccepted, expectRefused, request } from '../../requestFixture.ts'

const all = {
  ...{ ts_profile: 'dvb', service_name: 'Erstes', service_provider: 'Anstalt', service_id: 7, transport_stream_id: 0 },
  ...{ pmt_pid: 100, video_pid: 101, audio_pid: 300 },
}
const ts = (more: Record<string, unknown>, audioProfiles: unknown[] = [{ source_stream: 1 }, { source_stream: 2 }]) =>
  request({ output_container: 'ts', ...more, audioProfiles })

describe('how a transport stream is signalled', () => {
  test('is planned as the job says', () => {
    const { config, warnings } = expectAccepted(ts(all))
    expect(warnings).toEqual([])
    expect(toSpec(config).service).toEqual({
      ...{ profile: 'dvb', name: 'Erstes', provider: 'Anstalt', id: 7, transportStreamId: 0 },
      ...{ mapPid: 100, videoPid: 101, audioPid: 300 },
    })
  })

  test('has the source’s name and no name of a tool where the job says nothing', () => {
    const { service } = toSpec(expectAccepted(ts({ service_name: '', service_provider: '' })).config, 'My film.mov')
    expect(service).toMatchObject({ name: 'My_film', provider: 'Splicepoint', id: 1, transportStreamId: 1 })
  })

  test('audio follows a video PID that is given alone', () => {
    expect(toSpec(expectAccepted(ts({ video_pid: 500 })).config).service).toMatchObject({
      videoPid: 500,
      audioPid: 501,
    })
  })

  test.each([
    [{ pmt_pid: 256 }, 'pmt_pid'],
    [{ pmt_pid: 258 }, 'pmt_pid'],
    [{ video_pid: 4096 }, 'video_pid'],
    [{ video_pid: 4095 }, 'video_pid'],
    [{ audio_pid: 256 }, 'audio_pid'],
    [{ audio_pid: 4095 }, 'audio_pid'],
    [{ scte35_passthough: true, scte35_pid_remap: 257 }, 'scte35_pid_remap'],
    [{ video_pid: 500, scte35_passthough: true, scte35_pid_remap: 500 }, 'scte35_pid_remap'],
    [{ audio_pid: 8186 }, 'audio_pid'],
  ])('%j has a PID twice, or beyond the last one', (more, field) => {
    const problems = expectRefused(ts(more))
    expect(problems.map(({ code, field: at }) => [code, at])).toEqual([['unsupported_combination', field]])
  })

  test('the muxer’s default PIDs are available when the job sets other PIDs', () => {
    const { warnings } = expectAccepted(
      ts({ pmt_pid: 100, video_pid: 101, scte35_passthough: true, scte35_pid_remap: 256 }),
    )
    expect(warnings).toEqual([])
  })

  test.each([{ output_container: 'mp4' }, { output_container: 'hls' }, { segmented_output_dash: true }])(
    'all of it has no effect with %j, and says so',
    (more) => {
      const { warnings } = expectAccepted(request({ output_container: 'ts', ...all, ...more }))
      const reported = warnings.filter(({ code }) => code === 'no_effect').map(({ field }) => field)
      expect(reported).toEqual(expect.arrayContaining(Object.keys(all)))
    },
  )
})
