import { readFileSync } from 'node:fs'
import { makeStatic, sendStatic } from '../http/static.ts'
import type { Visit } from './visit.ts'

/** Headers of the service worker script. Browsers must revalidate it. */
export const workerHeaders = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': "default-src 'none'; connect-src 'self'",
}

const script = readFileSync(new URL('views/no-console-worker.js', import.meta.url), 'utf8')
const farewell = await makeStatic(script, workerHeaders)

/** Without a console, browsers that have installed one remove it. */
export async function sendFarewell({ req, res }: Visit): Promise<undefined> {
  sendStatic(req, res, farewell)
}
