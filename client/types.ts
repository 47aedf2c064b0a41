// In charge of: the types that both entry points export.
export type { Account, IssuedKey, Key } from '#contract/api/administration.ts'
export type {
  Created,
  JobList,
  JobLog,
  JobRead,
  ListedJob,
  ListedUpload,
  Preset,
  PresetList,
  PublicEvent,
  Share,
  ShareList,
  Upload,
  UploadList,
  UploadToken,
} from '#contract/api/answers.ts'
export type { AccountUsage, Usage, UsageLine, UsageOfAccounts } from '#contract/api/usage.ts'
export type { JobError, Problem, StatusError, Warning } from '#contract/errors.ts'
export type { Estimate, SourceReport } from '#contract/task/dryRunEstimate.ts'
export type { MediaFacts } from '#contract/task/mediaFacts.ts'
export type { PublicOutput, PublicStatus } from '#contract/api/status.ts'
export type {
  CreateOptions,
  ListOptions,
  PresetRequest,
  ShareOptions,
  SpendCapTerms,
  UploadTokenOptions,
  UsageOptions,
} from './serviceClient.ts'
export type { FollowOptions } from './followJob.ts'
export type { Credentials } from './serviceRequest.ts'
export type { AudioProfile, Credential, Input, JobRequest, PresetJob, VideoProfile } from './jobRequest.ts'
export type { UploadSource } from './upload/uploadSource.ts'
export type { Uploaded, UploadOptions } from './upload/uploadFile.ts'
