import { Files } from '../files/files.tsx'
import { WorkspaceTabs } from './tabs.tsx'
import { useSlug } from './workspace-screen.tsx'

/** The files of a workspace, with its tabs. */
export const WorkspaceFiles = () => (
  <>
    <WorkspaceTabs slug={useSlug()} />
    <Files />
  </>
)
