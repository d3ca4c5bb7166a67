import { useNavigate } from '@tanstack/react-router'
import { graphql } from '../../graphql/graphql.ts'
import { mutate } from '../../graphql/run.ts'
import { FormDialog, TextField } from '../../parts/form.tsx'
import { MAX_WORKSPACE_NAME } from '../../parts/limits.ts'
import { text } from './text.ts'

const CREATE = graphql(`
  mutation CreateWorkspace($input: CreateWorkspaceInput!) {
    createWorkspace(input: $input) {
      workspace {
        id
        slug
      }
    }
  }
`)

/** Asks for the name of a new workspace, and opens it. */
export function NewWorkspace({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <FormDialog
      title={text('create')}
      label={text('createIt')}
      onClose={onClose}
      onSubmit={async form => {
        const { createWorkspace } = await mutate(CREATE, {
          input: { name: String(form.get('name')).trim() },
        })
        if (createWorkspace)
          await navigate({
            to: '/workspaces/$slug/members',
            params: { slug: createWorkspace.workspace.slug },
          })
      }}
    >
      <TextField
        label={text('name')}
        hint={text('nameHint')}
        name="name"
        required
        maxLength={MAX_WORKSPACE_NAME}
        autoFocus
      />
    </FormDialog>
  )
}
