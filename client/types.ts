// In charge of: the types that both entries export.
export type {
  Created,
  IssuedKey,
  JobList,
  JobLog,
  JobRead,
  Key,
  ListedJob,
  ListedUpload,
  Preset,
  PresetList,
  Share,
  ShareList,
  Upload,
  UploadList,
  UploadToken,
} from '#contract/answers.ts'
export type { JobError, Problem, Warning } from '#contract/errors.ts'
export type { Estimate, SourceReport } from '#contract/estimate.ts'
export type { PublicEvent } from '#contract/events.ts'
export type { MediaFacts } from '#contract/media.ts'
export type { PublicOutput, PublicStatus } from '#contract/status.ts'
export type { CreateOptions, ListOptions, PresetRequest, ShareOptions, UploadTokenOptions } from './core.ts'
export type { FollowOptions } from './follow.ts'
export type { Credentials } from './http.ts'
export type { AudioProfile, Credential, JobRequest, PresetJob, VideoProfile } from './request.ts'
export type { UploadSource } from './source.ts'
export type { Uploaded, UploadOptions } from './upload.ts'
