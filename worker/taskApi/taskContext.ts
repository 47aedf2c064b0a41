// In charge of: what a request of the task API carries once its token is verified.
// Not in charge of: verifying it (taskRoutes.ts).

export interface TaskEnv {
  Bindings: Env
  Variables: { attempt: number; task: string; jobId: string }
}
