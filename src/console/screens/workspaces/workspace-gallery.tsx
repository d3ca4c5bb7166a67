import { Gallery } from '../gallery/gallery.tsx'
import { WorkspaceTabs } from './tabs.tsx'
import { useSlug } from './workspace-screen.tsx'

/** The pictures of a workspace, with the way to its other screens. */
export const WorkspaceGallery = () => (
  <>
    <WorkspaceTabs slug={useSlug()} />
    <Gallery />
  </>
)
