import { graphql, type ResultOf } from '../../../graphql/graphql.ts'
import { mutate } from '../../../graphql/run.ts'
import { toastError } from '../../../parts/toasts.tsx'
import { chosen, type FilesView, fields, type Sort, setView, sorts } from '../view.ts'

const VIEWED = graphql(`
  fragment Viewed on Viewer {
    id
    filesView {
      layout
      tileSize
      sort
      direction
    }
  }
`)

/** How the person wants lists of files to be shown. */
export const FILES_VIEW = graphql(
  `
    query FilesView {
      me {
        ...Viewed
      }
    }
  `,
  [VIEWED],
)

const SET_FILES_VIEW = graphql(
  `
    mutation SetFilesView($input: SetFilesViewInput!) {
      setFilesView(input: $input) {
        viewer {
          ...Viewed
        }
      }
    }
  `,
  [VIEWED],
)

const sizes = { small: 'SMALL', large: 'LARGE' } as const

/** Sends the chosen view to the service. */
export async function sendView({ view, size, sort = 'name', desc }: FilesView): Promise<void> {
  const input = {
    layout: view === 'grid' ? ('TILES' as const) : ('LIST' as const),
    tileSize: size ? sizes[size] : ('MEDIUM' as const),
    sort: fields[sort],
    direction: desc ? ('DESC' as const) : ('ASC' as const),
  }
  await mutate(SET_FILES_VIEW, { input }, { keepalive: true }).catch(toastError)
}

/** Applies the view that the person has chosen on another device. */
export function applyView({ filesView }: ResultOf<typeof VIEWED>): void {
  // An answer must not replace what this page has chosen meanwhile.
  if (chosen.get()) return
  const { layout, tileSize, sort, direction } = filesView
  const by: Sort = sorts.find(one => fields[one] === sort) ?? 'name'
  setView({
    ...(layout === 'TILES' && { view: 'grid' }),
    ...(tileSize === 'SMALL' && { size: 'small' }),
    ...(tileSize === 'LARGE' && { size: 'large' }),
    ...(by !== 'name' && { sort: by }),
    ...(direction === 'DESC' && { desc: true }),
  })
}
