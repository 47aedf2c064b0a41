// In charge of: the type of the one Node module that the Worker uses (nodejs_compat): without all types of Node, no
// other one is used by accident.
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<Store> {
    run<T>(store: Store, work: () => T): T
    getStore(): Store | undefined
  }
}
