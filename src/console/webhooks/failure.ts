import type { Delivery } from './documents.ts'
import { text } from './text.ts'

/** 410 Gone: the receiver unsubscribes (Standard Webhooks, "Operational considerations"). */
const GONE = 410

/** The result of an attempt, in words. */
export function outcomeOf({ status, failure }: Pick<Delivery, 'status' | 'failure'>): string {
  if (failure === null) return text('taken', { status: String(status) })
  if (status === GONE) return text('gone')
  if (failure === 'status' || failure === 'redirect')
    return text(failure, { status: String(status) })
  if (failure === 'timeout') return text('timeout')
  return failure === 'forbidden_address' ? text('forbidden') : text('broken', { code: failure })
}
