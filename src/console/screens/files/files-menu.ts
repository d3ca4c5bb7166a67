import { lazy } from 'react'

/** The open menu of entries or of the folder. */
export const FilesMenu = lazy(() =>
  import('./on-demand/open-menu.tsx').then(({ FilesMenu }) => ({ default: FilesMenu })),
)
