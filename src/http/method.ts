import type { IncomingMessage } from 'node:http'
import { AppError } from '../runtime/errors.ts'

/** @throws METHOD_NOT_ALLOWED for every method but those */
export function allowOnly(req: IncomingMessage, ...allow: string[]): void {
  if (!allow.includes(req.method ?? ''))
    throw new AppError('METHOD_NOT_ALLOWED', `This URL accepts only ${allow.join(', ')}.`, {
      allow,
    })
}

/**
 * Whether a person has opened the URL in a tab of a browser (Fetch Metadata). Scripts, frames,
 * pictures and programs that ask for HTML are none of these.
 */
export const isNavigation = (req: IncomingMessage): boolean =>
  asksForPage(req) &&
  req.headers['sec-fetch-mode'] === 'navigate' &&
  req.headers['sec-fetch-dest'] === 'document'

/** Whether a browser opens the URL as a page: other clients do not ask for HTML. */
export const asksForPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html')
