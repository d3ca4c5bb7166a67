import { graphql, type ResultOf } from '../graphql/graphql.ts'
import { formatBytes, formatNumber } from '../i18n/format.ts'
import { Figures } from '../parts/figures.tsx'
import { type Part, SpaceParts, tones } from './parts.tsx'
import { text } from './text.ts'

/** Storage use of a drive, and its largest entries. */
export const SPACE = graphql(`
  fragment Space on Drive {
    id
    usage {
      usedBytes
      keptBytes
      maxBytes
      fileCount
      maxFiles
      folderCount
      maxFolders
      isOver
    }
    root {
      id
      entries(first: 6, orderBy: { field: SIZE, direction: DESC }) {
        nodes {
          __typename
          id
          name
          path
          size
        }
      }
    }
  }
`)

/** The used fraction of the storage from which a warning is shown. */
const NEARLY_FULL = 0.9

/** The largest entries of the root, all others, and the rest of the storage use. */
function partsOf({ usage, root }: ResultOf<typeof SPACE>, filesHref: string): Part[] {
  const largest = root.entries.nodes.filter(({ size }) => size > 0)
  const rest = usage.usedBytes - largest.reduce((sum, { size }) => sum + size, 0)
  const free = usage.maxBytes - usage.usedBytes
  return [
    ...largest.map(({ __typename, id, name, path, size }, at) => ({
      id,
      label: name,
      bytes: size,
      tone: tones[at % tones.length] ?? 'accent',
      ...(__typename === 'Folder'
        ? {
            href: `${filesHref}/${path.split('/').filter(Boolean).map(encodeURIComponent).join('/')}`,
          }
        : {}),
    })),
    ...(rest > 0 ? [{ id: 'rest', label: text('rest'), bytes: rest, tone: 'edge' } as const] : []),
    ...(free > 0 ? [{ id: 'free', label: text('free'), bytes: free, tone: 'line' } as const] : []),
  ]
}

/** The storage use of a drive. */
export function Space({ drive, filesHref }: { drive: ResultOf<typeof SPACE>; filesHref: string }) {
  const { usage } = drive
  const whole = Math.max(usage.maxBytes, usage.usedBytes, 1)
  const parts = partsOf(drive, filesHref)
  const counted = (count: number, max: number | null) =>
    max === null
      ? formatNumber(count)
      : text('of', { count: formatNumber(count), max: formatNumber(max) })
  const isNearlyFull =
    !usage.isOver &&
    usage.usedBytes < usage.maxBytes &&
    usage.usedBytes >= NEARLY_FULL * usage.maxBytes
  return (
    <>
      <p className="space-sum">
        <strong>{formatBytes(usage.usedBytes)}</strong>{' '}
        <span className="soft">{text('ofBytes', { max: formatBytes(usage.maxBytes) })}</span>
      </p>
      <SpaceParts parts={parts} whole={whole} used={usage.usedBytes} />
      <Figures
        of={[
          [text('files'), counted(usage.fileCount, usage.maxFiles)],
          [text('folders'), counted(usage.folderCount, usage.maxFolders)],
          [text('kept'), formatBytes(usage.keptBytes)],
        ]}
      />
      {(usage.isOver || usage.usedBytes >= usage.maxBytes) && (
        <p className="problem">{text(usage.isOver ? 'over' : 'full')}</p>
      )}
      {isNearlyFull && <p className="space-warning">{text('nearlyFull')}</p>}
    </>
  )
}
