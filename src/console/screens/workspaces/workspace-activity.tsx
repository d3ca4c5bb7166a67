import { Activity } from '../activity/activity.tsx'
import { WorkspaceTabs } from './tabs.tsx'
import { useSlug } from './workspace-screen.tsx'

/** The activity of a workspace, with its tabs. */
export const WorkspaceActivity = () => (
  <>
    <WorkspaceTabs slug={useSlug()} />
    <Activity />
  </>
)
