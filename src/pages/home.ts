import { FOLDER } from '../../db/models/entry.ts'
import type { Caller } from '../access/caller.ts'
import { sessionSecret } from '../access/credential.ts'
import { hashSecret } from '../runtime/tokens.ts'
import type { Newest, Overview } from '../services/accounts/overview.ts'
import type { Services } from '../services/index.ts'
import { oneLine } from '../values/one-line.ts'
import type { HomeView } from './views.ts'
import { type Page, page, type Reply, type Visit } from './visit.ts'
import { personOf, type Words } from './words.ts'

/** `/`: describes the service and shows the visitor's account. */
export function homePage(
  { overviews }: Pick<Services, 'overviews'>,
  { unbuilt = false }: { unbuilt?: boolean } = {},
) {
  return async (visit: Visit): Promise<Reply> => {
    const all = visit.query.has('all')
    const secret = sessionSecret(visit.req)
    // In parallel, because the database may be far away.
    const [caller, overview] = await Promise.all([
      visit.caller(),
      secret ? overviews.read(hashSecret(secret).toString('hex'), { all }) : null,
    ])
    if (!caller || !overview) return welcomePage(visit)
    return page(
      'home',
      { ...homeOf(visit.words, caller, overview, all), unbuilt },
      { title: visit.words.say('yourStorage'), caller },
    )
  }
}

/** `/` for visitors who are not signed in. */
export const welcomePage = ({ words }: Pick<Visit, 'words'>): Page =>
  page('welcome', {}, { title: words.say('welcomeTitle'), signIn: '/login' })

const moreOf = ({ total, rows }: Newest<unknown>) => Math.max(0, total - rows.length)

function homeOf(
  words: Words,
  { limits }: Caller,
  overview: Overview,
  all: boolean,
): Omit<HomeView, 'unbuilt'> {
  const { say, sizeOf, momentOf, fileOf, folderOf, roleOf } = words
  const { received, invites, workspaces, usedBytes, fileCount } = overview
  const percent =
    limits.maxTotalStorageBytes > 0 ? (usedBytes / limits.maxTotalStorageBytes) * 100 : 100
  return {
    plan: overview.planName,
    used: sizeOf(usedBytes),
    max: sizeOf(limits.maxTotalStorageBytes),
    percent: Math.min(100, percent),
    full: percent >= 100 || (limits.maxFiles !== null && fileCount >= limits.maxFiles),
    files:
      limits.maxFiles === null
        ? say('files', { count: fileCount })
        : say('filesOf', { count: fileCount, most: limits.maxFiles }),
    received: {
      unseen: received.unseen,
      more: moreOf(received),
      rows: received.rows.map(({ token, kind, name, fileType, size, sharedBy, seen }) => ({
        ...(kind === FOLDER ? folderOf(name, size) : fileOf(name, fileType, size)),
        href: `/share/${token}`,
        by: personOf(sharedBy),
        seen,
      })),
    },
    invites: {
      more: moreOf(invites),
      rows: invites.rows.map(({ token, workspaceName, role, expiresAt }) => ({
        href: `/invite/${token}`,
        workspace: oneLine(workspaceName),
        role: roleOf(role),
        until: momentOf(expiresAt),
      })),
    },
    workspaces: {
      more: moreOf(workspaces),
      rows: workspaces.rows.map(({ id, name, role }) => ({
        name: oneLine(name),
        role: roleOf(role),
        href: `/workspace/${id}`,
      })),
    },
    all: all ? null : '/home?all',
  }
}
