import { Drive, notAMember } from '../access/drive.ts'
import type { Services } from '../services/index.ts'
import { joinPath } from '../values/paths.ts'
import { levelView } from './level.ts'
import { page, type Reply, signInAt, type Visit } from './visit.ts'

const PAGE = 200

/**
 * `/workspace/{id}?path=`: one folder of a workspace, with downloads. The link of an invite leads
 * here.
 *
 * @param hasConsole whether the web console shows more of it
 */
export function workspacePage(
  { drives, listings }: Services,
  { hasConsole }: { hasConsole: boolean },
) {
  return async (visit: Visit): Promise<Reply> => {
    const { token: id, here, query } = visit
    const caller = await visit.caller()
    if (!caller) return { to: signInAt(here) }
    const [found] = await drives.workspaceTreesOf(caller, 'w.id', [id])
    if (!found) throw notAMember('enter')
    if (hasConsole) return { to: `/workspaces/${found.slug}/files` }
    const { tree } = Drive.ofWorkspace(caller, found).open('read')
    const level = await listings.level(tree, query.get('path') ?? '', {
      limit: PAGE,
      cursor: query.get('cursor'),
    })
    const hrefOf = (path: string[], cursor?: string) =>
      `${here}?${new URLSearchParams({ path: joinPath(path), ...(cursor ? { cursor } : {}) })}`
    const data = levelView(visit.words, level, {
      top: found.name,
      folder: hrefOf,
      file: ({ id: file }) =>
        `/api/workspaces/${id}/files/download?${new URLSearchParams({ file_id: file })}`,
    })
    return page('workspace', data, { title: visit.words.nameOf(found.name), caller })
  }
}
