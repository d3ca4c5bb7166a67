import { Link } from '@tanstack/react-router'
import { formatExact } from '../../../i18n/format.ts'
import { personName } from '../../../parts/person-name.ts'
import type { Grant } from './documents.ts'
import type { GrantsSearch } from './search.ts'
import { text } from './text.ts'

const ruleText: Record<Grant['brokenRules'][number], string> = {
  DURATION: text('tooLong'),
  PASSWORD: text('needsPassword'),
  OUTSIDE: text('outside'),
}

const usesOf = ({ kind, useCount: count, maxUses }: Grant): string => {
  if (kind === 'REQUEST') return text('received', { count })
  return maxUses === null
    ? text('downloads', { count })
    : text('downloadsOf', { count, max: maxUses })
}

const whomOf = ({ kind, recipient }: Grant): string =>
  recipient ?? text(kind === 'REQUEST' ? 'senders' : 'everyone')

interface GrantRowProps {
  grant: Grant
  search: GrantsSearch
  isMarked: boolean
  onMark: (isIn: boolean) => void
}

/** One grant. Person and workspace link to their other grants. */
export function GrantRow({ grant, search, isMarked, onMark }: GrantRowProps) {
  const { sharer, name, workspaceId, workspaceName, expiresAt } = grant
  const who = sharer ? personName(sharer) : text('gone')
  return (
    <li className="grant">
      <input
        type="checkbox"
        aria-label={text('select', { name, who })}
        checked={isMarked}
        onChange={({ target }) => onMark(target.checked)}
      />
      <div className="grow">
        <p className="title">
          <bdi>{name}</bdi>
          {grant.brokenRules.map(rule => (
            <span key={rule} className="chip wrong">
              {ruleText[rule]}
            </span>
          ))}
          {grant.isPaused && <span className="chip wrong">{text('paused')}</span>}
        </p>
        <p className="sub">
          <bdi>{whomOf(grant)}</bdi>
        </p>
        <div className="facts-line soft">
          <span>
            {sharer ? (
              <Link to="/admin/shares" search={{ ...search, person: sharer.id }}>
                {text('byWhom', { name: who })}
              </Link>
            ) : (
              text('byWhom', { name: who })
            )}
          </span>
          {workspaceId && (
            <span>
              <Link to="/admin/shares" search={{ ...search, workspace: workspaceId }}>
                {text('inWorkspace', { name: workspaceName ?? workspaceId })}
              </Link>
            </span>
          )}
          <span>
            {expiresAt === null ? text('never') : text('until', { when: formatExact(expiresAt) })}
          </span>
          <span>{text(grant.passwordProtected ? 'password' : 'noPassword')}</span>
          {grant.mayEdit && <span>{text('mayEdit')}</span>}
          <span>{usesOf(grant)}</span>
        </div>
      </div>
    </li>
  )
}
