import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'

/** @throws METHOD_NOT_ALLOWED for every method but those */
export function allowOnly(req: IncomingMessage, ...allow: string[]): void {
  if (!allow.includes(req.method ?? ''))
    throw new AppError('METHOD_NOT_ALLOWED', `This address takes ${allow.join(', ')}.`, { allow })
}

/** Whether a browser opens the address as a page: other clients do not ask for HTML. */
export const asksForPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html')
