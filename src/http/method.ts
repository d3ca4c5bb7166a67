import type { IncomingMessage } from 'node:http'
import { AppError } from '../runtime/errors.ts'

/** @throws METHOD_NOT_ALLOWED for all other methods */
export function allowOnly(req: IncomingMessage, ...allow: string[]): void {
  if (!allow.includes(req.method ?? '')) throw methodNotAllowed(allow)
}

/**
 * Whether a person opened the URL in a browser tab (Fetch Metadata). False for scripts, frames,
 * images and programs that request HTML.
 */
export const isNavigation = (req: IncomingMessage): boolean =>
  asksForPage(req) &&
  req.headers['sec-fetch-mode'] === 'navigate' &&
  req.headers['sec-fetch-dest'] === 'document'

/** Whether a browser opens the URL as a page. Other clients do not request HTML. */
export const asksForPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html')

export const methodNotAllowed = (allow: string[]) =>
  new AppError('METHOD_NOT_ALLOWED', `This URL accepts only ${allow.join(', ')}.`, { allow })
