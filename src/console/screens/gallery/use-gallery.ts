import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { useLive } from '../../graphql/live.ts'
import { ask } from '../../graphql/run.ts'
import { useHidden } from '../../listing/held-back.ts'
import type { DriveHere } from '../files/use-folder.ts'
import { GALLERY, PICTURES_OF_MONTH, type Picture } from './documents.ts'
import { boundsOf, type Layout, type Section, sectionOf } from './layout.ts'

/** Pictures of a month per request. */
const BLOCK = 100
/** Number of blocks to keep that are out of view. */
const MOST_BLOCKS = 60
/** Changed pictures are refetched after this delay. */
const GATHER_MS = 1500
/** Pictures that scroll past faster than this are not requested. */
const REST_MS = 80

interface Block {
  pictures: readonly Picture[]
  /** Whether something changed after the block was loaded. */
  isStale: boolean
}

export interface Gallery {
  drive: DriveHere | undefined
  /** Name of the workspace; null for other drives. */
  title: string | null
  months: readonly { month: string; count: number }[]
  isLoading: boolean
  error: ReturnType<typeof useQuery>[0]['error']
  /** The picture at an index, if it is loaded. */
  at: (layout: Layout, index: number) => Picture | undefined
  /** The index of a loaded picture, or -1. */
  indexOf: (layout: Layout, id: string) => number
  /** Reports the visible range, which is then loaded. */
  show: (layout: Layout, from: number, to: number) => void
  /** Loads a range, visible or not. */
  load: (layout: Layout, from: number, to: number) => Promise<void>
  refresh: () => void
  /** The loaded pictures by id. */
  known: ReadonlyMap<string, Picture>
}

const keyOf = (month: string, block: number) => `${month}/${block}`

/** The blocks that contain a range of pictures. */
function blocksOf(
  layout: Layout,
  from: number,
  to: number,
): { key: string; section: Section; block: number }[] {
  const found: { key: string; section: Section; block: number }[] = []
  for (let at = Math.max(0, from); at <= Math.min(to, layout.pictures - 1); ) {
    const section = sectionOf(layout, at)
    if (!section) break
    const block = Math.floor((at - section.first) / BLOCK)
    found.push({ key: keyOf(section.month, block), section, block })
    at = section.first + Math.min(section.count, (block + 1) * BLOCK)
  }
  return found
}

/** The pictures of a drive by time. Only visible ones are loaded. */
export function useGallery(slug: string | null): Gallery {
  const whose = useMemo(() => ({ own: slug === null, slug }), [slug])
  const [{ data, error, fetching }, reload] = useQuery({
    query: GALLERY,
    variables: whose,
    requestPolicy: 'cache-and-network',
  })
  const blocks = useRef(new Map<string, Block>())
  const loading = useRef(new Map<string, Promise<void>>())
  const sight = useRef<{ layout: Layout; from: number; to: number } | undefined>(undefined)
  const [drawn, draw] = useState(0)
  const hidden = useHidden()

  const loadBlock = useCallback(
    (section: Section, block: number): Promise<void> => {
      const key = keyOf(section.month, block)
      const known = blocks.current.get(key)
      if (known && !known.isStale) return Promise.resolve()
      const variables = { ...whose, ...boundsOf(section.month), skip: block * BLOCK, first: BLOCK }
      const running =
        loading.current.get(key) ??
        ask(PICTURES_OF_MONTH, variables)
          .then(answer => {
            const { nodes = [] } = (answer.me?.drive ?? answer.workspace?.drive)?.pictures ?? {}
            blocks.current.delete(key)
            blocks.current.set(key, { pictures: nodes as unknown as Picture[], isStale: false })
            draw(times => times + 1)
          })
          .finally(() => loading.current.delete(key))
      loading.current.set(key, running)
      return running
    },
    [whose],
  )

  const load = useCallback(
    async (layout: Layout, from: number, to: number) => {
      await Promise.all(
        blocksOf(layout, from, to).map(({ section, block }) => loadBlock(section, block)),
      )
    },
    [loadBlock],
  )

  const loadSight = useCallback(() => {
    if (!sight.current) return
    const { layout, from, to } = sight.current
    const seen = new Set(blocksOf(layout, from, to).map(({ key }) => key))
    // A picture that fails to load keeps its place, and is requested again when it next becomes
    // visible.
    load(layout, from, to).catch(() => {})
    for (const key of blocks.current.keys()) {
      if (blocks.current.size <= MOST_BLOCKS) break
      if (!seen.has(key)) blocks.current.delete(key)
    }
  }, [load])

  const timer = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  const show = useCallback(
    (layout: Layout, from: number, to: number) => {
      sight.current = { layout, from, to }
      clearTimeout(timer.current)
      timer.current = window.setTimeout(loadSight, REST_MS)
    },
    [loadSight],
  )

  const refresh = useCallback(() => {
    for (const block of blocks.current.values()) block.isStale = true
    reload({ requestPolicy: 'network-only' })
    loadSight()
  }, [reload, loadSight])
  const gathered = useRef(0)
  useEffect(() => () => clearTimeout(gathered.current), [])
  const refreshSoon = useCallback(() => {
    gathered.current ||= window.setTimeout(() => {
      gathered.current = 0
      refresh()
    }, GATHER_MS)
  }, [refresh])

  const drive = data?.me?.drive ?? data?.workspace?.drive
  useLive(drive?.id, refreshSoon)
  const { id, trashDays = 0 } = drive ?? {}
  const permissions = drive?.permissions.join(' ')
  const driveHere = useMemo((): DriveHere | undefined => {
    if (id === undefined) return undefined
    const may = (permission: string) => permissions?.split(' ').includes(permission) ?? false
    return {
      id,
      canWrite: may('WRITE'),
      canDelete: may('DELETE'),
      canShare: may('SHARE'),
      trashDays,
    }
  }, [id, permissions, trashDays])

  // biome-ignore lint/correctness/useExhaustiveDependencies: it changes with the blocks
  const known = useMemo(
    () =>
      new Map(
        [...blocks.current.values()].flatMap(({ pictures }) =>
          pictures.map(one => [one.id, one] as const),
        ),
      ),
    [drawn],
  )

  return {
    drive: driveHere,
    known,
    title: data?.workspace?.name ?? null,
    months: useMemo(() => drive?.pictureMonths ?? [], [drive?.pictureMonths]),
    isLoading: !data && fetching,
    error: data ? undefined : error,
    at(layout, index) {
      const section = sectionOf(layout, index)
      if (!section) return undefined
      const within = index - section.first
      const found = blocks.current.get(keyOf(section.month, Math.floor(within / BLOCK)))?.pictures[
        within % BLOCK
      ]
      return found && !hidden.has(found.id) ? found : undefined
    },
    indexOf(layout, id) {
      for (const [key, { pictures }] of blocks.current) {
        const at = pictures.findIndex(picture => picture.id === id)
        const [month, block] = key.split('/')
        const section =
          at < 0 ? undefined : layout.sections.find(section => section.month === month)
        if (section) return section.first + Number(block) * BLOCK + at
      }
      return -1
    },
    show,
    load,
    refresh,
  }
}
