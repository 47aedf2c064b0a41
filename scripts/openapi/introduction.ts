// In charge of: what a reader of the API reference must know before its operations.
// Not in charge of: the pages that show it (referencePage.ts, referenceMarkdown.ts).

export interface IntroductionTopic {
  title: string
  text: readonly string[]
  /** Shell commands that use BASE and KEY. */
  code?: string
}

export const introduction: readonly IntroductionTopic[] = [
  {
    title: 'Authentication',
    text: [
      'HTTP Basic: the user name is your API key, the password is ignored. `npm start` prints a key; an administrator creates more with `POST /api/v0/keys`. Without a key, or with a wrong one, the answer is 401.',
    ],
    code: 'curl -u "$KEY:" "$BASE/api/v0/job"',
  },
  {
    title: 'The first job',
    text: [
      'Upload a file, or use its address on the web; create a job; poll it until `status.job_completed` is true; download from `status.outputs[].url`. `job_completed` is true for failed and cancelled jobs too: `status.error` is null only after success.',
    ],
    code: `curl -u "$KEY:" --data-binary @film.mp4 "$BASE/uploads?name=film.mp4"
curl -u "$KEY:" --json '{"input": "1", "output_container": "hls", "ladder": "auto",
  "audioProfiles": [{"source_stream": "1", "optional": true}],
  "cloud_credentials": {"input": {"cloud_provider": "file-upload"}}}' "$BASE/api/v0/job"
curl -u "$KEY:" "$BASE/api/v0/job/1"`,
  },
  {
    title: 'Numbers and strings',
    text: [
      'Some members are strings that contain a number, such as `"tcode_progress": "42"` or `"audio_channels": "2"`. In a request both forms are accepted, and null means that the member is left out. Unknown members are stored, returned and listed in `warnings`.',
    ],
  },
  {
    title: 'Errors',
    text: [
      'Every error has the shape of `Error`: a `code` from a closed list, a `message` for people, and in some cases `field` and `details`. For an invalid job, `details` lists all problems. 429 and 503 have a `Retry-After` header.',
    ],
    code: '{"error": {"code": "invalid_request", "field": "videoProfiles[0].height", "message": "…", "details": […]}}',
  },
  {
    title: 'Request ids',
    text: [
      'Every answer has the header `X-Request-ID`, which the log of the service names too. You may send your own: up to 64 letters, digits, hyphens and underscores.',
    ],
  },
  {
    title: 'Repeating a request safely',
    text: [
      'Send `Idempotency-Key` with `POST /api/v0/job`: the same key and body within 24 hours return the first answer again and create no second job. Another body with the same key is refused with 409.',
    ],
  },
  {
    title: 'Lists',
    text: [
      'Lists come in pages, newest first. `next_cursor` of one page is the `cursor` of the next; null means that there are no more.',
    ],
  },
]
