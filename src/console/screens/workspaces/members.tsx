import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { useDriveEvents } from '../../graphql/live.ts'
import { mutate } from '../../graphql/run.ts'
import { type PagedList, usePages } from '../../graphql/use-pages.ts'
import { formatExact } from '../../i18n/format.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/form.tsx'
import { Eye, UserPlus } from '../../parts/icons.ts'
import { personName } from '../../parts/person-name.ts'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { toast, toastError } from '../../parts/toasts.tsx'
import { CREATE_INVITE, InvitePerson } from './invite-person.tsx'
import { PendingInvites, useInvites } from './pending-invites.tsx'
import { invitable, type Role, roleHint, roleName } from './roles.ts'
import { text } from './text.ts'
import { HEAD, useSlug, WorkspaceScreen } from './workspace-screen.tsx'

const AccessOf = lazy(() =>
  import('../../sharing/access-of.tsx').then(({ AccessOf }) => ({ default: AccessOf })),
)
const RemoveMember = lazy(() =>
  import('./remove-member.tsx').then(({ RemoveMember }) => ({ default: RemoveMember })),
)

const MEMBERS = graphql(`
  fragment Members on MemberConnection {
    nodes {
      id
      role
      joinedAt
      assignableRoles
      isRemovable
      person {
        id
        name
        email
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`)

/**
 * A workspace with its first page of members. The arguments must stay the same, so that the cache
 * finds the result.
 */
const PEOPLE = graphql(
  `
    fragment People on Workspace {
      ...WorkspaceHead
      memberCount
      maxMembers
      members(first: 100) {
        ...Members
      }
    }
  `,
  [HEAD, MEMBERS],
)

/** One page of members. */
const MEMBERS_OF = graphql(
  `
    query Members($slug: String!, $first: Int!, $after: String) {
      me {
        id
        person {
          id
        }
      }
      workspace(slug: $slug) {
        ...WorkspaceHead
        memberCount
        maxMembers
        drive {
          id
        }
        members(first: $first, after: $after) {
          ...Members
        }
      }
    }
  `,
  [HEAD, MEMBERS],
)

const CHANGE_ROLE = graphql(
  `
    mutation ChangeRole($input: ChangeMemberRoleInput!) {
      changeMemberRole(input: $input) {
        workspace {
          ...People
        }
      }
    }
  `,
  [PEOPLE],
)

const REMOVE = graphql(
  `
    mutation RemoveMember($input: RemoveMemberInput!) {
      removeMember(input: $input) {
        workspace {
          ...People
        }
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
  `,
  [PEOPLE],
)

type MembersData = ResultOf<typeof MEMBERS_OF>
type Member = ResultOf<typeof MEMBERS>['nodes'][number]

/** The events that change members or invites. */
const kinds: Parameters<typeof useDriveEvents>[2] = [
  ...(['MEMBER_JOINED', 'MEMBER_ROLE_CHANGED', 'MEMBER_REMOVED', 'MEMBER_LEFT'] as const),
  ...(['INVITE_CREATED', 'INVITE_CHANGED', 'INVITE_REVOKED', 'INVITE_REJECTED'] as const),
]

/** The members of a workspace with their roles, and the pending invites. */
export function Members() {
  const slug = useSlug()
  const members = usePages({
    document: MEMBERS_OF,
    variables: { slug },
    connectionOf: (data: MembersData | undefined) => data?.workspace?.members,
    first: 100,
    next: 100,
  })
  const invites = useInvites(slug)
  const refresh = () => {
    members.refresh()
    invites.refresh()
  }
  const { data, error } = members
  const workspace = data?.workspace
  useDriveEvents(workspace?.drive?.id, refresh, kinds)
  return (
    <WorkspaceScreen workspace={workspace} error={error} retry={refresh}>
      {workspace && (
        <>
          <MemberList
            workspace={workspace}
            members={members}
            me={data.me.person.id}
            onInvited={invites.refresh}
          />
          {invites.entries.length > 0 && (
            <PendingInvites workspace={workspace.id} invites={invites} />
          )}
        </>
      )}
    </WorkspaceScreen>
  )
}

interface MemberListProps {
  workspace: NonNullable<MembersData['workspace']>
  members: PagedList<Member, MembersData>
  /** Id of the person. */
  me: string
  onInvited: () => void
}

function MemberList({ workspace, members, me, onInvited }: MemberListProps) {
  const navigate = useNavigate()
  const [isInviting, setInviting] = useState(false)
  const [leaving, setLeaving] = useState<Member | null>(null)
  const [shown, setShown] = useState<Member | null>(null)
  const [giving, setGiving] = useState<{ member: Member; role: Role } | null>(null)
  const isMe = (member: Member) => member.person.id === me
  const { memberCount, maxMembers } = workspace
  const change = async (member: Member, role: Role) => {
    await mutate(CHANGE_ROLE, { input: { member: member.id, role } })
    toast({ message: text('roleChanged', { name: nameOf(member), role: roleName(role) }) })
  }
  const choose = (member: Member, role: Role) => {
    if (role === 'OWNER' || isMe(member)) setGiving({ member, role })
    else void change(member, role).catch(toastError)
  }
  /** A membership comes back only if the person accepts. */
  const invite = async ({ role, person: { email } }: Member) => {
    await mutate(CREATE_INVITE, { input: { workspace: workspace.id, email, role } })
    onInvited()
    toast({ message: text('sent', { email }) })
  }
  const mayInvite = ({ role }: Member) =>
    workspace.permissions.includes('INVITE') && invitable.includes(role)
  const remove = async (member: Member) => {
    await mutate(REMOVE, { input: { member: member.id } })
    if (!isMe(member)) {
      members.refresh()
      return void toast({
        message: text('removed', { name: nameOf(member) }),
        ...(mayInvite(member) && {
          action: { label: text('inviteAgain'), run: () => void invite(member).catch(toastError) },
        }),
      })
    }
    await navigate({ to: '/workspaces' })
    toast({ message: text('left', { name: workspace.name }) })
  }
  return (
    <Section
      title={text('membersTab')}
      hint={
        memberCount !== null && maxMembers !== null
          ? text('memberCount', { count: memberCount, max: maxMembers })
          : undefined
      }
      actions={
        workspace.permissions.includes('INVITE') && (
          <Button look="primary" onPress={() => setInviting(true)}>
            <UserPlus />
            {text('invite')}
          </Button>
        )
      }
    >
      <Rows label={text('membersTab')}>
        {members.entries.map(member => (
          <li key={member.id}>
            <Avatar name={member.person.name} email={member.person.email} />
            <div className="grow">
              <p className="title">
                <bdi>{nameOf(member)}</bdi>
                {isMe(member) && <span className="chip">{text('you')}</span>}
              </p>
              <p className="sub" dir="auto">
                {member.person.email}
              </p>
              <p className="sub">{text('joinedAt', { when: formatExact(member.joinedAt) })}</p>
            </div>
            <span className="row-end">
              {member.assignableRoles.length > 0 ? (
                <SelectField
                  isBare
                  label={text('roleOf', { name: nameOf(member) })}
                  options={member.assignableRoles.map(role => [role, roleName(role)] as const)}
                  value={member.role}
                  onChange={({ target }) => choose(member, target.value as Role)}
                />
              ) : (
                <span className="chip soft" title={roleHint(member.role)}>
                  {roleName(member.role)}
                </span>
              )}
              {!isMe(member) && (
                <Button
                  look="icon"
                  aria-label={text('accessOf', { name: nameOf(member) })}
                  onPress={() => setShown(member)}
                >
                  <Eye />
                </Button>
              )}
              {member.isRemovable && (
                <Button
                  aria-label={
                    isMe(member) ? text('leave') : text('removeOf', { name: nameOf(member) })
                  }
                  onPress={() => setLeaving(member)}
                >
                  {isMe(member) ? text('leave') : text('remove')}
                </Button>
              )}
            </span>
          </li>
        ))}
      </Rows>
      <ShowMore {...members} />
      {isInviting && (
        <InvitePerson
          workspace={workspace.id}
          onInvited={onInvited}
          onClose={() => setInviting(false)}
        />
      )}
      {giving && (
        <Confirm
          title={
            isMe(giving.member)
              ? text('ownRoleTitle')
              : text('ownerTitle', { name: nameOf(giving.member) })
          }
          isOpen
          label={text('changeRole')}
          onClose={() => setGiving(null)}
          onConfirm={() => void change(giving.member, giving.role).catch(toastError)}
        >
          <p>
            {isMe(giving.member)
              ? text('ownRoleWarning', { role: roleName(giving.role) })
              : text('ownerWarning')}
          </p>
        </Confirm>
      )}
      {leaving && isMe(leaving) && (
        <Confirm
          title={text('leaveTitle')}
          isOpen
          label={text('leave')}
          onClose={() => setLeaving(null)}
          onConfirm={() => void remove(leaving).catch(toastError)}
        >
          <p>{text('leaveWarning', { name: workspace.name })}</p>
        </Confirm>
      )}
      <Suspense>
        {leaving && !isMe(leaving) && (
          <RemoveMember
            workspace={workspace.id}
            member={leaving}
            onRemove={() => remove(leaving)}
            onRemoved={members.refresh}
            onClose={() => setLeaving(null)}
          />
        )}
        {shown && (
          <AccessOf
            email={shown.person.email}
            name={nameOf(shown)}
            onClose={() => {
              setShown(null)
              members.refresh()
            }}
          />
        )}
      </Suspense>
    </Section>
  )
}

const nameOf = ({ person }: Member) => personName(person)
