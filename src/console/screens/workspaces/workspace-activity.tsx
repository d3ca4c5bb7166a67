import { Activity } from '../activity/activity.tsx'
import { WorkspaceTabs } from './tabs.tsx'
import { useSlug } from './workspace-screen.tsx'

/** What happened in a workspace, with the way to its other screens. */
export const WorkspaceActivity = () => (
  <>
    <WorkspaceTabs slug={useSlug()} />
    <Activity />
  </>
)
