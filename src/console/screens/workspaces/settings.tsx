import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { formatExact } from '../../i18n/format.ts'
import { Button } from '../../parts/button.tsx'
import { FormDialog, TextField } from '../../parts/form.tsx'
import { MAX_SLUG, MAX_WORKSPACE_NAME } from '../../parts/limits.ts'
import { personName } from '../../parts/person-name.ts'
import { Section } from '../../parts/screen.tsx'
import { toast } from '../../parts/toasts.tsx'
import { useTask } from '../../parts/use-task.ts'
import { SPACE, Space } from '../../space/space.tsx'
import { text } from './text.ts'
import { HEAD, useSlug, WorkspaceScreen } from './workspace-screen.tsx'

const ABOUT = graphql(
  `
    fragment About on Workspace {
      ...WorkspaceHead
      createdAt
      owner {
        id
        name
        email
      }
      drive {
        ...Space
      }
    }
  `,
  [HEAD, SPACE],
)

const SETTINGS = graphql(
  `
    query WorkspaceSettings($slug: String!) {
      workspace(slug: $slug) {
        ...About
      }
    }
  `,
  [ABOUT],
)

const UPDATE = graphql(
  `
    mutation UpdateWorkspace($input: UpdateWorkspaceInput!) {
      updateWorkspace(input: $input) {
        workspace {
          ...WorkspaceHead
        }
      }
    }
  `,
  [HEAD],
)

const DELETE = graphql(`
  mutation DeleteWorkspace($input: DeleteWorkspaceInput!) {
    deleteWorkspace(input: $input) {
      viewer {
        id
        workspaces(first: 1000) {
          nodes {
            id
          }
        }
      }
    }
  }
`)

type Workspace = ResultOf<typeof ABOUT>

/** Settings of a workspace: name, storage use and deletion. */
export function Settings() {
  const slug = useSlug()
  const [{ data, error }, reload] = useKeptQuery({
    query: SETTINGS,
    variables: { slug },
    requestPolicy: 'cache-and-network',
  })
  const [isDeleting, setDeleting] = useState(false)
  const workspace = data?.workspace
  return (
    <WorkspaceScreen
      workspace={workspace}
      error={error}
      retry={() => reload({ requestPolicy: 'network-only' })}
    >
      {workspace && (
        <>
          {workspace.permissions.includes('RENAME') && (
            <Rename key={workspace.id} workspace={workspace} />
          )}
          <Section
            title={text('storage')}
            hint={text('storageHint', {
              name: personName(workspace.owner),
              when: formatExact(workspace.createdAt),
            })}
          >
            {workspace.drive && (
              <Space drive={workspace.drive} filesHref={`/workspaces/${workspace.slug}/files`} />
            )}
          </Section>
          {workspace.permissions.includes('DELETE') && (
            <Section title={text('delete')} hint={text('deleteHint')}>
              <div>
                <Button look="danger" onPress={() => setDeleting(true)}>
                  {text('deleteMore')}
                </Button>
              </div>
            </Section>
          )}
          {isDeleting && (
            <DeleteWorkspace workspace={workspace} onClose={() => setDeleting(false)} />
          )}
        </>
      )}
    </WorkspaceScreen>
  )
}

function Rename({ workspace }: { workspace: Workspace }) {
  const navigate = useNavigate()
  const { isBusy, problem, run } = useTask()
  const [name, setName] = useState(workspace.name)
  const [slug, setSlug] = useState(workspace.slug)
  const isSame = name.trim() === workspace.name && slug.trim() === workspace.slug
  const save = () =>
    run(async () => {
      const input = { workspace: workspace.id, name: name.trim(), slug: slug.trim() }
      const { updateWorkspace } = await mutate(UPDATE, { input })
      toast({ message: text('saved') })
      const now = updateWorkspace?.workspace.slug
      if (now && now !== workspace.slug)
        await navigate({ to: '/workspaces/$slug/settings', params: { slug: now }, replace: true })
    })
  return (
    <Section title={text('called')}>
      <form
        className="form narrow"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <TextField
          label={text('name')}
          value={name}
          required
          maxLength={MAX_WORKSPACE_NAME}
          onChange={({ target }) => setName(target.value)}
        />
        <TextField
          label={text('slug')}
          hint={text('slugHint')}
          value={slug}
          required
          maxLength={MAX_SLUG}
          pattern="[a-z0-9\-]+"
          spellCheck={false}
          onChange={({ target }) => setSlug(target.value)}
        />
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div>
          <Button look="primary" type="submit" isDisabled={isBusy || isSame}>
            {text('save')}
          </Button>
        </div>
      </form>
    </Section>
  )
}

/** Normalises a name for comparison with what the person types. */
const legible = (name: string) => name.normalize().replaceAll(/\s+/g, ' ').trim()

function DeleteWorkspace({
  workspace: { id, name },
  onClose,
}: {
  workspace: Workspace
  onClose: () => void
}) {
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  return (
    <FormDialog
      title={text('deleteTitle')}
      label={text('deleteForEver')}
      isDangerous
      isDisabled={legible(typed) !== legible(name)}
      onClose={onClose}
      onSubmit={async () => {
        await mutate(DELETE, { input: { workspace: id } })
        await navigate({ to: '/workspaces', replace: true })
        toast({ message: text('deleted', { name }) })
      }}
    >
      <p>{text('deleteWarning')}</p>
      <TextField
        label={
          <>
            {text('typeName')} <bdi>{name}</bdi>
          </>
        }
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </FormDialog>
  )
}
