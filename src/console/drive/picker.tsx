import './picker.css'
import { Fragment, type ReactNode, useState } from 'react'
import { useQuery } from 'urql'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { SelectField } from '../parts/form.tsx'
import { ChevronRight, Folder, FolderPlus } from '../parts/icons.ts'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { SUBFOLDERS, WRITABLE_DRIVES } from './documents.ts'
import { parentOf, trim } from './place.ts'
import { entryOf, firstOfShare, SHARED_FOLDER } from './shared.ts'
import { text } from './text.ts'

interface PickerProps {
  /** The drive that is shown first. */
  drive: string
  /** Whether it may be another one. */
  anyDrive?: boolean
  title: string
  /** What the button says that takes the folder on the screen. */
  label: string
  /** What the root of that drive is called. */
  root: string
  /** The token of the share that is shown in the place of the drive. */
  share?: string | undefined
  /** Path of the folder that is shown first. */
  start: string
  /** What is to be moved: it goes neither into itself nor where it is. */
  moving?: readonly { id: string; path: string }[]
  /** Whether it is copied instead, which may be done where it is. */
  copies?: boolean
  /** @param name what the folder is called */
  onPick: (path: string, drive: string, name: string) => void
  onClose: () => void
  /** What is to go there. */
  children?: ReactNode
}

/** Asks for a folder that something is to go into. */
export function Picker({
  drive: first,
  share,
  anyDrive = false,
  title,
  label,
  root: rootOfFirst,
  start,
  moving = [],
  copies,
  onPick,
  onClose,
  children,
}: PickerProps) {
  const [drive, setDrive] = useState(first)
  const [path, setPath] = useState(start)
  const drives = useDrives(anyDrive)
  const root = drives.find(([id]) => id === drive)?.[1] ?? rootOfFirst
  const { folders: found, error, fetching, reload } = useSubfolders(drive, share, path)
  const moved = new Set(moving.map(({ id }) => id))
  const folders = found.filter(({ id }) => !moved.has(id))
  const names = path ? path.split('/') : []
  const isSame =
    !copies &&
    moving.length > 0 &&
    drive === first &&
    moving.every(entry => parentOf(trim(entry.path)) === path)
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{text('cancel')}</Button>
          <Button
            look="primary"
            isDisabled={isSame}
            onPress={() => {
              onClose()
              onPick(path, drive, names.at(-1) ?? root)
            }}
          >
            <FolderPlus />
            {label}
          </Button>
        </>
      }
    >
      {children}
      {drives.length > 1 && (
        <SelectField
          label={text('drive')}
          isBare
          options={drives}
          value={drive}
          onChange={({ target }) => {
            setDrive(target.value)
            setPath('')
          }}
        />
      )}
      <nav className="picker-path" aria-label={text('path')}>
        <button type="button" dir="auto" onClick={() => setPath('')}>
          {root}
        </button>
        {names.map((name, at) => {
          const here = names.slice(0, at + 1).join('/')
          return (
            <Fragment key={here}>
              <ChevronRight aria-hidden className="crumb-sign" />
              <button type="button" dir="auto" onClick={() => setPath(here)}>
                {name}
              </button>
            </Fragment>
          )
        })}
      </nav>
      <div className="picker-list">
        {error ? (
          <ErrorState error={error} retry={reload} />
        ) : fetching ? (
          <Skeleton rows={4} />
        ) : folders.length === 0 ? (
          <p className="soft">{text('noFolders')}</p>
        ) : (
          <ul>
            {folders.map(({ id, name, path: to }) => (
              <li key={id}>
                <button type="button" className="picker-folder" onClick={() => setPath(trim(to))}>
                  <Folder aria-hidden />
                  <span dir="auto">{name}</span>
                  <ChevronRight aria-hidden className="crumb-sign" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  )
}

/** The folders in a folder of a drive, or of what is shared. */
function useSubfolders(drive: string, share: string | undefined, path: string) {
  const [ofDrive, askDrive] = useQuery({
    query: SUBFOLDERS,
    variables: { drive, path },
    pause: share !== undefined,
  })
  const [ofShare, askShare] = useQuery({
    query: SHARED_FOLDER,
    variables: { ...firstOfShare(path), token: share ?? '' },
    pause: share === undefined,
    requestPolicy: 'cache-and-network',
  })
  const { error, fetching } = share === undefined ? ofDrive : ofShare
  const { node } = ofDrive.data ?? {}
  const entry = node?.__typename === 'Drive' ? node.entry : null
  const folders =
    share === undefined
      ? entry?.__typename === 'Folder'
        ? entry.entries.nodes
        : []
      : (ofShare.data?.sharedFolder.entries ?? [])
          .map(entryOf)
          .filter(({ __typename }) => __typename === 'Folder')
  const reload = () =>
    (share === undefined ? askDrive : askShare)({ requestPolicy: 'network-only' })
  return { folders, error, fetching, reload }
}

/**
 * The drives that the person may write into, with their names: their own first. Empty until they
 * are known.
 */
function useDrives(isAsked: boolean): [id: string, name: string][] {
  const [{ data }] = useQuery({
    query: WRITABLE_DRIVES,
    pause: !isAsked,
    requestPolicy: 'cache-and-network',
  })
  if (!data) return []
  const workspaces = data.me.workspaces?.nodes ?? []
  return [
    [data.me.drive.id, text('own')],
    ...workspaces.flatMap(({ name, drive }): [string, string][] =>
      drive?.permissions.includes('WRITE') ? [[drive.id, name]] : [],
    ),
  ]
}
