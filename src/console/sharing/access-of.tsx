import './sharing.css'
import { useState } from 'react'
import { useKeptQuery } from '../graphql/kept.ts'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { EntryIcon } from '../parts/entry-icon.tsx'
import { CheckBox } from '../parts/form.tsx'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { toast, toastError } from '../parts/toasts.tsx'
import { accessName } from './access.tsx'
import { ACCESS_OF, END_ACCESS, type PersonAccess } from './access-documents.ts'
import type { Share } from './documents.ts'
import { endOf, nameOf } from './facts.ts'
import { text } from './text.ts'

interface AccessOfProps {
  email: string
  /** The name of the person, if known. */
  name?: string
  onClose: () => void
}

/** Everything that a person can see because of the signed-in person, and its end. */
export function AccessOf({ email, name = email, onClose }: AccessOfProps) {
  const [{ data, error }, again] = useKeptQuery({
    query: ACCESS_OF,
    variables: { email },
    requestPolicy: 'cache-and-network',
  })
  const [kept, setKept] = useState<readonly string[]>([])
  const [isEnding, setEnding] = useState(false)
  const access = data?.me.accessOf
  const removable = access?.members.filter(({ isRemovable }) => isRemovable) ?? []
  const leaving = removable.filter(({ workspace }) => !kept.includes(workspace.id))
  const count = access?.shares.nodes.length ?? 0
  const end = async () => {
    const workspaces = leaving.map(({ workspace }) => workspace.id)
    await mutate(END_ACCESS, { input: { email, workspaces } })
    toast({ message: text('accessEnded', { who: name }) })
    onClose()
  }
  return (
    <Dialog
      title={text('accessOf', { who: name })}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{text('close')}</Button>
          <Button
            look="danger"
            isDisabled={count + leaving.length === 0}
            onPress={() => setEnding(true)}
          >
            {text('endAll')}
          </Button>
        </>
      }
    >
      {error && !access && (
        <ErrorState error={error} retry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {!error && !access && <Skeleton rows={4} />}
      {access && (
        <>
          <Shares title={text('youShare')} shares={access.shares} />
          {access.members.length > 0 && (
            <Workspaces members={access.members} kept={kept} onKeep={setKept} />
          )}
          <Shares title={text('theyShare', { who: name })} shares={access.receivedShares} />
          {count + access.members.length + access.receivedShares.nodes.length === 0 && (
            <p>{text('accessNone', { who: name })}</p>
          )}
          <p className="soft">{text('accessStays', { who: name })}</p>
        </>
      )}
      <Confirm
        title={text('endAllTitle', { who: name })}
        isOpen={isEnding}
        label={text('endAll')}
        onConfirm={() => void end().catch(toastError)}
        onClose={() => setEnding(false)}
      >
        {count > 0 && (
          <p>
            {text(access?.shares.pageInfo.hasNextPage ? 'endAllShares' : 'endShares', {
              who: name,
              count,
            })}
          </p>
        )}
        {leaving.length > 0 && (
          <p>
            {text('endMemberships', {
              who: name,
              names: leaving.map(({ workspace }) => workspace.name).join(', '),
            })}
          </p>
        )}
        <p className="soft">{text('accessStays', { who: name })}</p>
      </Confirm>
    </Dialog>
  )
}

interface SharesProps {
  title: string
  shares: { nodes: readonly Share[]; pageInfo: { hasNextPage: boolean } }
}

function Shares({ title, shares: { nodes, pageInfo } }: SharesProps) {
  if (nodes.length === 0) return null
  return (
    <section className="access-part">
      <h3>{title}</h3>
      <ul className="rows" aria-label={title}>
        {nodes.map(share => (
          <li key={share.id} className="share-row">
            <EntryIcon contentType={share.entryKind === 'FOLDER' ? null : share.contentType} />
            <div className="grow">
              <div className="share-name">
                <span dir="auto">{nameOf(share)}</span>
              </div>
              <div className="facts-line soft">
                <span>{accessName(share)}</span>
                <span>{endOf(share)}</span>
              </div>
            </div>
          </li>
        ))}
      </ul>
      {pageInfo.hasNextPage && <p className="soft">{text('andOthers')}</p>}
    </section>
  )
}

interface WorkspacesProps {
  members: PersonAccess['members']
  /** The ids of the workspaces whose member the person stays. */
  kept: readonly string[]
  onKeep: (ids: readonly string[]) => void
}

function Workspaces({ members, kept, onKeep }: WorkspacesProps) {
  return (
    <section className="access-part">
      <h3>{text('workspaces')}</h3>
      <ul className="rows" aria-label={text('workspaces')}>
        {members.map(({ id, isRemovable, workspace }) => (
          <li key={id}>
            <div className="grow">
              <bdi>{workspace.name}</bdi>
            </div>
            {isRemovable ? (
              <CheckBox
                label={
                  <>
                    {text('removeToo')}
                    <span className="sr"> {workspace.name}</span>
                  </>
                }
                checked={!kept.includes(workspace.id)}
                onChange={({ target }) =>
                  onKeep(
                    target.checked
                      ? kept.filter(one => one !== workspace.id)
                      : [...kept, workspace.id],
                  )
                }
              />
            ) : (
              <span className="soft">{text('notRemovable')}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
