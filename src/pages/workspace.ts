import { Drive, notAMember } from '../access/drive.ts'
import { joinPath } from '../paths.ts'
import type { Services } from '../services/index.ts'
import { page, type Reply, signInAt, type Visit } from './visit.ts'
import { count, fileOf, nameOf, sizeOf } from './words.ts'

const PAGE = 200

/**
 * `/workspace/{id}?path=`: one folder of a workspace, whose files can be downloaded. The link of an invite leads here.
 * @param hasConsole whether the web console shows more of it
 */
export function workspacePage({ drives, listings }: Services, { hasConsole }: { hasConsole: boolean }) {
  return async (visit: Visit): Promise<Reply> => {
    const { token: id, here, query } = visit
    const caller = await visit.caller()
    if (!caller) return { to: signInAt(here) }
    const [found] = await drives.workspaceTreesOf(caller, 'w.id', [id])
    if (!found) throw notAMember('enter')
    if (hasConsole) return { to: `/workspaces/${found.slug}/files` }
    const { tree } = Drive.ofWorkspace(caller, found).open('read')
    const level = await listings.level(tree, query.get('path') ?? '', { limit: PAGE, cursor: query.get('cursor') })
    const { names, folders, files, nextCursor } = level
    const hrefOf = (path: string[], cursor?: string) =>
      `${here}?${new URLSearchParams({ path: joinPath(path), ...(cursor ? { cursor } : {}) })}`
    const data = {
      crumbs: [nameOf(found.name), ...names].map((label, depth) => ({ label, href: hrefOf(names.slice(0, depth)) })),
      folders: folders.map(folder => ({
        name: nameOf(folder.name),
        href: hrefOf([...names, folder.name]),
        files: count(folder.fileCount, 'file'),
        size: sizeOf(folder.size),
      })),
      files: files.map(file => ({
        ...fileOf(file.name, file.fileType, file.size),
        href: `/api/workspaces/${id}/files/download?${new URLSearchParams({ file_id: file.id })}`,
      })),
      next: nextCursor ? hrefOf(names, nextCursor) : null,
    }
    return page('workspace', data, { title: nameOf(found.name), caller })
  }
}
