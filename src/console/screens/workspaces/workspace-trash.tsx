import { Trash } from '../trash/trash.tsx'
import { WorkspaceTabs } from './tabs.tsx'
import { useSlug } from './workspace-screen.tsx'

/** The trash of a workspace, with its tabs. */
export const WorkspaceTrash = () => (
  <>
    <WorkspaceTabs slug={useSlug()} />
    <Trash />
  </>
)
