import { useState } from 'react'
import type { ResultOf } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { mutate } from '../../graphql/run.ts'
import { CheckBox, FormDialog } from '../../parts/form.tsx'
import { personName } from '../../parts/person-name.ts'
import { toast } from '../../parts/toasts.tsx'
import { ACCESS_OF, END_ACCESS } from '../../sharing/access-documents.ts'
import { nameOf } from '../../sharing/facts.ts'
import { text } from './text.ts'

/** The names of shares that the dialog lists. */
const LISTED = 5

interface RemoveMemberProps {
  workspace: string
  member: { id: string; person: { name: string; email: string } }
  /** Ends the membership only. */
  onRemove: () => Promise<unknown>
  onClose: () => void
  /** Called when the membership has ended together with the shares. */
  onRemoved: () => void
}

/** Ends the membership of another person and, if chosen, all shares with them. */
export function RemoveMember(props: RemoveMemberProps) {
  const { workspace, member, onRemove, onClose, onRemoved } = props
  const { email } = member.person
  const name = personName(member.person)
  const [isAll, setAll] = useState(false)
  const [{ data }] = useKeptQuery({
    query: ACCESS_OF,
    variables: { email },
    requestPolicy: 'cache-and-network',
  })
  const access: ResultOf<typeof ACCESS_OF>['me']['accessOf'] | undefined = data?.me.accessOf
  const shares = access?.shares.nodes ?? []
  const others = (access?.members ?? []).filter(one => one.workspace.id !== workspace)
  return (
    <FormDialog
      title={text('removeTitle')}
      label={text('remove')}
      isDangerous
      onClose={onClose}
      onSubmit={async () => {
        if (!isAll) return onRemove()
        await mutate(END_ACCESS, { input: { email, workspaces: [workspace] } })
        onRemoved()
        toast({ message: text('removedAll', { name }) })
      }}
    >
      <p>{text('removeWarning', { name })}</p>
      {shares.length > 0 && (
        <>
          <CheckBox
            label={text(access?.shares.pageInfo.hasNextPage ? 'alsoAllShares' : 'alsoShares', {
              name,
              count: shares.length,
            })}
            hint={[
              ...shares.slice(0, LISTED).map(nameOf),
              ...(shares.length > LISTED ? ['…'] : []),
            ].join(', ')}
            checked={isAll}
            onChange={({ target }) => setAll(target.checked)}
          />
          {!isAll && <p className="soft">{text('sharesStay', { name })}</p>}
        </>
      )}
      <p className="soft">{text('linksStay', { name })}</p>
      {others.length > 0 && (
        <p className="soft">
          {text('othersStay', {
            name,
            names: others.map(one => one.workspace.name).join(', '),
          })}
        </p>
      )}
    </FormDialog>
  )
}
