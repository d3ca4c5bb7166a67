import { RESTORE } from '../../drive/documents.ts'
import { hrefOf, nameOf, parentOf, trim } from '../../drive/place.ts'
import { Refused } from '../../graphql/errors.ts'
import { inParts } from '../../graphql/in-parts.ts'
import { mutate } from '../../graphql/run.ts'
import { hide, show } from '../../listing/held-back.ts'
import { toast, toastError } from '../../parts/toasts.tsx'
import { DELETE_FOR_EVER, EMPTY_TRASH, type TrashItem } from './documents.ts'
import { text } from './text.ts'

/** A restore: its items and options. */
export interface Restoring {
  items: readonly TrashItem[]
  /** Path of the target folder. Without it, items return to their old folders. */
  to?: string
  onConflict?: 'KEEP_BOTH' | 'REPLACE'
}

interface Given {
  drive: string
  workspace: string | null
  /** Display name of the root of the drive. */
  root: string
  /** Refetches the list. */
  after: () => void
  navigate: (href: string) => void
  /** Called when the old name of an item is taken. */
  onTaken: (restoring: Restoring) => void
}

/** Actions on trash items. A toast shows failures. */
export function createActions({ drive, workspace, root, after, navigate, onTaken }: Given) {
  /** Hides items while they are being removed. */
  async function taking(ids: readonly string[], work: () => Promise<void>): Promise<void> {
    hide(ids)
    try {
      await work()
    } catch (error) {
      toastError(error)
    } finally {
      show(ids)
      after()
    }
  }

  function sayRestored(entries: readonly { id: string; path: string }[]): void {
    const [first] = entries
    if (!first) return
    const folders = new Set(entries.map(({ path }) => parentOf(trim(path))))
    const [folder = ''] = folders
    const href = `${hrefOf({ workspace, path: folder })}?${new URLSearchParams({ sel: first.id })}`
    toast({
      message: text(folders.size === 1 ? 'restoredTo' : 'restored', {
        count: entries.length,
        name: nameOf(trim(first.path)),
        folder: nameOf(folder) || root,
      }),
      action: { label: text('show'), run: () => navigate(href) },
    })
  }

  return {
    restore(restoring: Restoring): Promise<void> {
      const { items, to, onConflict = 'FAIL' as const } = restoring
      const restored: { id: string; path: string }[] = []
      const left = new Set(items)
      return taking(
        items.map(({ id }) => id),
        async () => {
          try {
            for (const part of inParts(items)) {
              const input = {
                items: part.map(({ id }) => id),
                onConflict,
                ...(to !== undefined && { to: { at: { drive, path: to } } }),
              }
              const { restoreFromTrash } = await mutate(RESTORE, { input }, { keepalive: true })
              restored.push(...(restoreFromTrash?.entries ?? []))
              for (const item of part) left.delete(item)
            }
          } catch (error) {
            if (!(error instanceof Refused && error.code === 'PATH_EXISTS')) throw error
            onTaken({ ...restoring, items: [...left] })
          } finally {
            sayRestored(restored)
          }
        },
      )
    },

    deleteForEver(items: readonly TrashItem[]): Promise<void> {
      const ids = items.map(({ id }) => id)
      return taking(ids, async () => {
        for (const part of inParts(ids))
          await mutate(DELETE_FOR_EVER, { input: { items: part } }, { keepalive: true })
        toast({ message: text('deleted', { count: items.length, name: items[0]?.name ?? '' }) })
      })
    },

    empty: (): Promise<void> =>
      taking([], async () => {
        await mutate(EMPTY_TRASH, { input: { drive } }, { keepalive: true })
        toast({ message: text('emptied') })
      }),
  }
}
