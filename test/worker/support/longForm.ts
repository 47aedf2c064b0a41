// In charge of: whether tests inside workerd run in their long form, as test/support/longForm.ts tells it in Node.
import { env } from 'cloudflare:workers'

export const LONG_FORM = env.LONG_TESTS === '1'
