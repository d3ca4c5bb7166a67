import { useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { hrefOf, idInShare, trim } from '../../drive/place.ts'
import type { Selection } from '../../listing/selection.ts'
import type { Point } from '../../parts/menu.tsx'
import {
  driveOfHits,
  type Hit,
  hrefOfHit,
  isOnPage,
  placeOfHit,
  whereOfHit,
} from '../../search/hit.ts'
import { actWith } from '../files/act.ts'
import type { Commands, Open } from '../files/commands.ts'
import type { Entry } from '../files/documents.ts'

interface Given {
  selected: readonly Hit[]
  selection: Selection
  select: (next: Selection) => void
  refresh: () => void
  ownDrive: string
  /** Opens a file in the viewer. */
  show: (hit: Hit) => void
  setMenu: (menu: { at: Point; of: readonly Hit[] } | null) => void
}

/** Actions on results: the same as in a folder, run separately for each drive or share. */
export function useActing({
  selected,
  selection,
  select,
  refresh,
  ownDrive,
  show,
  setMenu,
}: Given) {
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open>(null)
  const [first] = selected
  const drive = driveOfHits(selected, ownDrive)
  const latest = useRef(refresh)
  latest.current = refresh
  const hasTrash = drive?.trashDays !== 0
  const share = drive?.share?.token
  const { act } = useMemo(() => {
    const here = { id: drive?.id ?? '', share, hasTrash }
    // Actions only ever get results.
    return actWith(
      here,
      () => latest.current(),
      entry => whereOfHit(entry as Hit),
    )
  }, [drive?.id, share, hasTrash])

  function openHit(hit: Hit) {
    if (hit.share && isOnPage(hit)) location.assign(hit.share.url)
    else if (hit.__typename === 'Folder') void navigate({ to: hrefOfHit(hit) })
    else show(hit)
  }
  /** Opens the folder and selects the entry there. */
  function openFolder(hit: Hit) {
    if (hit.share && isOnPage(hit)) return void location.assign(hit.share.url)
    const place = placeOfHit(hit)
    const isTop = hit.share !== null && hit.path === ''
    const sel = hit.share ? idInShare(hit.path) : hit.id
    void navigate({
      to: isTop ? '/shared' : hrefOf(place),
      search: (isTop ? {} : { sel }) as never,
    })
  }
  const removeNow = (gone: readonly Entry[]) =>
    act(actions => {
      select({ ...selection, ids: new Set() })
      return actions.remove(gone)
    })
  const commands: Commands = {
    place: first ? placeOfHit(first) : { workspace: null, path: '' },
    search: {},
    setSearch() {},
    drive,
    selected,
    selection,
    select,
    act,
    setOpen,
    startRename() {},
    openScreen() {},
    remove: gone => (hasTrash ? removeNow(gone) : setOpen('delete')),
    setMenu: menu => setMenu(menu && { at: menu.at, of: selected }),
    openEntry: entry => {
      const hit = selected.find(({ id }) => id === entry.id)
      if (hit) openHit(hit)
    },
    target: undefined,
  }
  return {
    drive,
    act,
    commands,
    open,
    removeNow,
    openHit,
    openFolder,
    start: first ? trim(placeOfHit(first).path) : '',
  }
}
