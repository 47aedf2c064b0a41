// In charge of: the request body of created jobs in the benchmarks, and the stored outputs of such a job: three
// renditions.

export const createRequestBody = JSON.stringify({
  input: 'https://media.example.com/films/the-general.mp4',
  output_container: 'mp4',
  video_codec: 'h.264',
  videoProfiles: [
    { output: '1080p.mp4', width: 1920, height: 1080, video_bitrate_mode: 'vbr', video_bitrate: 5000 },
    { output: '720p.mp4', width: 1280, height: 720, video_bitrate_mode: 'vbr', video_bitrate: 2800 },
    { output: '360p.mp4', width: 640, height: 360, video_bitrate_mode: 'vbr', video_bitrate: 800 },
  ],
  audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }],
  cloud_credentials: { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } },
})

/** In the form of the database. */
export const storedOutputs = JSON.stringify(
  ['1080p.mp4', '720p.mp4', '360p.mp4'].map((path, profile) => ({
    path,
    location: `vendor-store/${path}`,
    size: 12_000_000,
    sha256: 'ab'.repeat(32),
    etag: 'cd'.repeat(16),
    content_type: 'video/mp4',
    profile,
    role: 'media',
  })),
)
