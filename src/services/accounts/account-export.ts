import type { Caller } from '../../access/caller.ts'
import { Unauthenticated } from '../../runtime/errors.ts'
import { type DriveLog, type ExportDeps, exportLists, time } from './account-export-list.ts'

/** A file generated while it is sent. */
export interface Attachment {
  name: string
  /** JSON by default. */
  type?: string
  chunks: AsyncGenerator<string>
}

/**
 * The data that the service stores about a person, for that person. It contains nothing that lets
 * anyone sign in, open a share or accept an invite.
 */
export function accountExportService(deps: ExportDeps) {
  const { sessions, users } = deps

  async function accountOf(caller: Caller): Promise<object> {
    const [user, notices, usage] = [
      await users.read(caller),
      await sessions.wantsNotices(caller),
      await users.usage(caller.bucket),
    ]
    return {
      id: user.id,
      email: user.email,
      email_verified: user.emailVerified,
      name: user.name,
      given_name: user.givenName,
      family_name: user.familyName,
      picture: user.picture,
      locale: user.locale,
      created_at: time(user.createdAt),
      plan_id: user.plan.id,
      sign_in_notices: notices,
      used_bytes: usage.usedBytes,
      file_count: usage.fileCount,
      folder_count: usage.folderCount,
      kept_bytes: usage.keptBytes,
    }
  }

  /** The parts of the file. Changes made during the export may be missing. */
  async function* write(
    caller: Caller,
    drive: DriveLog,
    mayGoOn: () => Promise<boolean>,
  ): AsyncGenerator<string> {
    const account = JSON.stringify(await accountOf(caller))
    yield `{\n"exported_at": "${time(Date.now())}",\n"account": ${account}`
    for (const [name, list] of Object.entries(exportLists(deps, caller, drive))) {
      yield `,\n"${name}": [`
      let separator = '\n'
      for await (const page of list) {
        if (page.length === 0) continue
        yield separator + page.map(row => JSON.stringify(row)).join(',\n')
        separator = ',\n'
        // If the session ends, so does the export.
        if (!(await mayGoOn())) throw new Unauthenticated()
      }
      yield ']'
    }
    yield '\n}\n'
  }

  return {
    /**
     * The export of a caller in a session, in constant memory.
     * @param drive the caller's drive
     * @param mayGoOn whether the session is still active; called after each page
     */
    make: (caller: Caller, drive: DriveLog, mayGoOn: () => Promise<boolean>): Attachment => ({
      name: `satchel-${time(Date.now()).slice(0, 10)}.json`,
      chunks: write(caller, drive, mayGoOn),
    }),
  }
}
