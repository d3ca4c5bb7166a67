import { Gallery } from '../gallery/gallery.tsx'
import { WorkspaceTabs } from './tabs.tsx'
import { useSlug } from './workspace-screen.tsx'

/** The gallery of a workspace, with its tabs. */
export const WorkspaceGallery = () => (
  <>
    <WorkspaceTabs slug={useSlug()} />
    <Gallery />
  </>
)
