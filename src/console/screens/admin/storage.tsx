import { Link } from '@tanstack/react-router'
import { Refused } from '../../graphql/errors.ts'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { useKeptQuery } from '../../graphql/kept.ts'
import { formatBytes, formatNumber } from '../../i18n/format.ts'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { Figures } from '../../parts/figures.tsx'
import { personName } from '../../parts/person-name.ts'
import { Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/screen.tsx'
import { Skeleton } from '../../parts/states.tsx'
import { type Part, SpaceParts } from '../../space/parts.tsx'
import { AdminScreen } from './admin-screen.tsx'
import { text } from './text.ts'

const STORAGE = graphql(`
  query StorageReport {
    operator {
      storageReport {
        usedBytes
        fileCount
        folderCount
        leftBytes
        trashBytes
        trashCount
        versionBytes
        uploadBytes
        uploadCount
        deletingBytes
        deletingCount
        eventCount
        space {
          freeBytes
          totalBytes
        }
        largestAccounts {
          id
          name
          email
          usage {
            usedBytes
            keptBytes
            maxBytes
          }
        }
        largestWorkspaces {
          workspaceId
          name
          usedBytes
          keptBytes
          maxBytes
          owner {
            id
            name
            email
          }
        }
      }
    }
  }
`)

type Report = ResultOf<typeof STORAGE>['operator']['storageReport']

/** Total storage use, and the accounts and workspaces that use the most. */
export function Storage() {
  const [{ data, error }, reload] = useKeptQuery({
    query: STORAGE,
    requestPolicy: 'cache-and-network',
  })
  const retry = () => reload({ requestPolicy: 'network-only' })
  // If the blob store is down, only its free space is missing.
  const report = data?.operator.storageReport
  return (
    <AdminScreen error={report ? undefined : error} retry={retry}>
      {!report ? (
        <Skeleton />
      ) : (
        <>
          {error && (
            <div className="space-unknown" role="alert">
              <p>{text('spaceUnknown', { why: new Refused(error).message })}</p>
              <Button onPress={retry}>{text('again')}</Button>
            </div>
          )}
          <Totals report={report} />
          <Section title={text('largestAccounts')} hint={text('largestAccountsHint')}>
            <Rows label={text('largestAccounts')}>
              {report.largestAccounts.map(account => (
                <li key={account.id}>
                  <Avatar name={account.name} email={account.email} />
                  <div className="grow">
                    <p className="title">
                      <AccountLink account={account} />
                    </p>
                    <p className="sub">{held(account.usage)}</p>
                  </div>
                </li>
              ))}
            </Rows>
          </Section>
          <Section title={text('largestWorkspaces')} hint={text('largestWorkspacesHint')}>
            {report.largestWorkspaces.length === 0 ? (
              <p className="soft">{text('noWorkspaces')}</p>
            ) : (
              <Rows label={text('largestWorkspaces')}>
                {report.largestWorkspaces.map(workspace => (
                  <li key={workspace.workspaceId}>
                    <div className="grow">
                      <p className="title">
                        <bdi>{workspace.name}</bdi>
                      </p>
                      <p className="sub">
                        {text('owner')} <AccountLink account={workspace.owner} />
                      </p>
                      <p className="sub">{held(workspace)}</p>
                    </div>
                  </li>
                ))}
              </Rows>
            )}
          </Section>
        </>
      )}
    </AdminScreen>
  )
}

function Totals({ report }: { report: Report }) {
  const { usedBytes, leftBytes, trashBytes, versionBytes, uploadBytes, deletingBytes, space } =
    report
  const parts: Part[] = [
    { id: 'files', label: text('partFiles'), bytes: usedBytes - leftBytes, tone: 'accent' },
    { id: 'left', label: text('partLeft'), bytes: leftBytes, tone: 'edge' },
    { id: 'versions', label: text('partVersions'), bytes: versionBytes, tone: 'image' },
    { id: 'trash', label: text('partTrash'), bytes: trashBytes, tone: 'archive' },
    { id: 'uploads', label: text('partUploads'), bytes: uploadBytes, tone: 'table' },
    { id: 'deleting', label: text('partDeleting'), bytes: deletingBytes, tone: 'video' },
  ]
  const whole = parts.reduce((sum, { bytes }) => sum + bytes, 0)
  return (
    <Section title={text('storage')} hint={text('storageHint')}>
      <p className="space-sum">
        <strong>{formatBytes(whole)}</strong> <span className="soft">{text('inStore')}</span>
      </p>
      <SpaceParts
        parts={parts.filter(({ id, bytes }) => id === 'files' || bytes > 0)}
        whole={Math.max(whole, 1)}
        used={whole}
      />
      <Figures
        of={[
          ...(space
            ? [
                [
                  text('diskFree'),
                  text('diskFreeOf', {
                    free: formatBytes(space.freeBytes),
                    total: formatBytes(space.totalBytes),
                  }),
                ] as const,
              ]
            : []),
          [text('files'), formatNumber(report.fileCount)],
          [text('folders'), formatNumber(report.folderCount)],
          [text('trashCount'), formatNumber(report.trashCount)],
          [text('uploadCount'), formatNumber(report.uploadCount)],
          [text('deletingCount'), formatNumber(report.deletingCount)],
          [text('events'), formatNumber(report.eventCount)],
        ]}
      />
    </Section>
  )
}

const AccountLink = ({ account }: { account: { id: string; name: string; email: string } }) => (
  <Link to="/admin/accounts/$id" params={{ id: account.id }}>
    <bdi>{personName(account)}</bdi>
  </Link>
)

const held = ({
  usedBytes,
  keptBytes,
  maxBytes,
}: {
  usedBytes: number
  keptBytes: number
  maxBytes: number
}): string =>
  text('holds', {
    used: formatBytes(usedBytes),
    max: formatBytes(maxBytes),
    kept: formatBytes(keptBytes),
  })
