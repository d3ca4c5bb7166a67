import type { Caller } from '../../access/caller.ts'
import type { ErrorCode } from '../../runtime/errors.ts'
import type { ApiKeyService } from '../accounts/api-key.ts'
import type { Core } from '../core.ts'

/** A call of a tool by an assistant. */
export interface AssistantCall {
  tool: string
  /** The file or folder that it concerns, if any. */
  entryId: string | null
  /** The error code of a failed call. */
  code: ErrorCode | undefined
}

/** Records the calls of assistants (docs/decisions/assistants.md). */
export function assistantCallService({
  change,
  apiKeys,
}: Core<'change'> & { apiKeys: Pick<ApiKeyService, 'knownAmong'> }) {
  return {
    /** Records a call in the log of the person, with the name of the key or assistant. */
    async record(caller: Caller, { tool, entryId, code }: AssistantCall): Promise<void> {
      const { credentialId } = caller
      const key = (await apiKeys.knownAmong(caller, [credentialId])).get(credentialId)
      const details = {
        tool,
        ...(key ? { name: key.name } : {}),
        ...(entryId === null ? {} : { entryId }),
        ...(code ? { code } : {}),
      }
      await change(caller, async ({ record }) => {
        record(caller.userId, { kind: 'assistant.called', subject: credentialId, details })
      })
    },
  }
}
