import type { Log } from '../runtime/log.ts'
import type { Caller } from './caller.ts'

/** Events for the analysis of incidents, with stable names. Refusals are logged as warnings. */
const levels = {
  sign_in: 'info',
  sign_in_refused: 'warn',
  sign_out: 'info',
  session_ended: 'info',
  other_sessions_ended: 'info',
  identity_added: 'warn',
  identity_removed: 'warn',
  key_created: 'info',
  key_deleted: 'info',
  member_joined: 'info',
  role_changed: 'info',
  member_removed: 'info',
  webhook_created: 'info',
  webhook_changed: 'info',
  webhook_deleted: 'info',
  data_exported: 'info',
  account_deleted: 'info',
  workspace_deleted: 'info',
  account_suspended: 'warn',
  account_restored: 'warn',
  grants_ended: 'warn',
  plan_changed: 'info',
  limits_changed: 'info',
  plan_created: 'info',
  plan_updated: 'warn',
  plan_retired: 'info',
  plan_restored: 'info',
  plan_deleted: 'info',
  default_plan_changed: 'info',
  operator_appointed: 'warn',
  operator_dismissed: 'warn',
  maintenance_started: 'warn',
  maintenance_ended: 'warn',
  account_invited: 'warn',
  account_reset: 'warn',
  password_changed: 'warn',
  passkey_added: 'warn',
  passkey_removed: 'warn',
  second_factor_added: 'warn',
  second_factor_removed: 'warn',
  guesses_blocked: 'warn',
} as const

export type SecurityEvent = keyof typeof levels

/** Ids, words from closed sets, and counts. Never tokens, addresses or names. */
export type Subject = Record<string, string | number | boolean | null>

export interface LoggedCaller {
  user_id?: string
  session_id?: string
  key_id?: string
}

/** The caller in the log. These ids are no credentials. */
export function loggedCaller(
  caller: Pick<Caller, 'userId' | 'via' | 'credentialId'> | null | undefined,
): LoggedCaller {
  if (!caller) return {}
  const { userId, via, credentialId } = caller
  return { user_id: userId, [via === 'session' ? 'session_id' : 'key_id']: credentialId }
}

/**
 * Logs a security event as one line.
 * @param log the request's log, which adds the request id
 */
export function logSecurityEvent(
  { log, caller }: { log: Log; caller: Caller | null },
  event: SecurityEvent,
  subject: Subject = {},
): void {
  writeSecurityEvent(log, event, loggedCaller(caller), subject)
}

/** Logs that a user removed an identity, and thereby some workspace memberships. */
export function logIdentityRemoved(
  context: { log: Log; caller: Caller | null },
  { identity, workspaces }: { identity: string; workspaces: string[] },
): void {
  logSecurityEvent(context, 'identity_removed', { identity_id: identity })
  for (const id of workspaces)
    logSecurityEvent(context, 'member_removed', {
      workspace_id: id,
      user_id: context.caller?.userId ?? null,
    })
}

/** Logs a security event for a caller of whom only ids are known. */
export function writeSecurityEvent(
  log: Log,
  event: SecurityEvent,
  caller: LoggedCaller,
  subject: Subject = {},
): void {
  log[levels[event]]({ event, ...caller, subject }, event.replaceAll('_', ' '))
}
