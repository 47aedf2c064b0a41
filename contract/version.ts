// In charge of: the version of the service; `npm run release` changes it. A test compares it with package.json (test/node/deploy/configuration.test.ts).

export const VERSION = '0.1.0'
