import './picker.css'
import { type FormEvent, Fragment, type ReactNode, useId, useState } from 'react'
import { useQuery } from 'urql'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { SelectField, TextField } from '../parts/form.tsx'
import { ChevronRight, Folder, FolderInput, FolderPlus } from '../parts/icons.ts'
import { MAX_NAME } from '../parts/limits.ts'
import { ErrorState, Skeleton } from '../parts/states.tsx'
import { useTask } from '../parts/use-task.ts'
import { createFolder } from './create-folder.ts'
import { SUBFOLDERS, WRITABLE_DRIVES } from './documents.ts'
import { join, parentOf, trim } from './place.ts'
import { entryOf, firstOfShare, SHARED_FOLDER } from './shared.ts'
import { text } from './text.ts'

interface PickerProps {
  /** The drive shown first. */
  drive: string
  /** Whether the person may switch to another drive. */
  anyDrive?: boolean
  title: string
  /** What happens in the picked folder. */
  doing: 'move' | 'copy' | 'save' | 'restore' | 'upload'
  /** Label of the button that picks the open folder. */
  label: string
  /** Display name of the root of that drive. */
  root: string
  /** Token of the share to browse instead of the drive. */
  share?: string | undefined
  /** Path of the folder shown first. */
  start: string
  /** The entries to move. They cannot be moved into themselves or to where they already are. */
  moving?: readonly { id: string; path: string }[]
  /** Whether the entries are copied. A copy may go into the same folder. */
  copies?: boolean
  /** @param name display name of the picked folder */
  onPick: (path: string, drive: string, name: string) => void
  onClose: () => void
  /** Describes what is moved or copied. */
  children?: ReactNode
}

/** Folder picker: asks where to put something. The person can create the folder here. */
export function Picker({
  drive: first,
  share,
  anyDrive = false,
  title,
  doing,
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
  const formId = useId()
  const [isNaming, setNaming] = useState(false)
  const { problem, run } = useTask()
  /** Creates the folder, and then opens or picks it. */
  const create = async (
    form: HTMLFormElement | null,
    then: (path: string, name: string) => void,
  ) => {
    if (!form?.reportValidity()) return
    const typed = String(new FormData(form).get('name'))
    let made = ''
    const isDone = await run(async () => {
      made = await createFolder({ drive, isShared: share !== undefined }, path, typed)
    })
    if (isDone) then(join(path, made), made)
  }
  const openFolder = (to: string) => {
    setPath(to)
    setNaming(false)
  }
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      footer={
        <>
          {!isNaming && (
            <Button className="picker-new" onPress={() => setNaming(true)}>
              <FolderPlus />
              {text('newFolder')}
            </Button>
          )}
          <Button onPress={onClose}>{text('cancel')}</Button>
          {isNaming ? (
            <Button look="primary" type="submit" form={formId}>
              <FolderPlus />
              {text('createAnd', { doing })}
            </Button>
          ) : (
            <Button
              look="primary"
              isDisabled={isSame}
              onPress={() => {
                onClose()
                onPick(path, drive, names.at(-1) ?? root)
              }}
            >
              <FolderInput />
              {label}
            </Button>
          )}
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
            openFolder('')
          }}
        />
      )}
      <nav className="picker-path" aria-label={text('path')}>
        <button type="button" dir="auto" onClick={() => openFolder('')}>
          {root}
        </button>
        {names.map((name, at) => {
          const here = names.slice(0, at + 1).join('/')
          return (
            <Fragment key={here}>
              <ChevronRight aria-hidden className="crumb-sign" />
              <button type="button" dir="auto" onClick={() => openFolder(here)}>
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
                <button
                  type="button"
                  className="picker-folder"
                  onClick={() => openFolder(trim(to))}
                >
                  <Folder aria-hidden />
                  <span dir="auto">{name}</span>
                  <ChevronRight aria-hidden className="crumb-sign" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      {isNaming && (
        <form
          id={formId}
          className="picker-naming"
          onSubmit={(event: FormEvent<HTMLFormElement>) => {
            event.preventDefault()
            void create(event.currentTarget, (to, name) => {
              onClose()
              onPick(to, drive, name)
            })
          }}
        >
          <TextField
            label={text('newFolderIn', { folder: names.at(-1) ?? root })}
            name="name"
            required
            pattern=".*\S.*"
            maxLength={MAX_NAME}
            autoFocus
            onKeyDown={event => {
              if (event.key !== 'Escape') return
              // Ends the naming only. The dialog stays.
              event.stopPropagation()
              setNaming(false)
            }}
          />
          <Button
            onPress={({ target }) => void create(target.closest('form'), to => openFolder(to))}
          >
            {text('createOnly')}
          </Button>
          {problem && (
            <p className="problem" role="alert">
              {problem}
            </p>
          )}
        </form>
      )}
    </Dialog>
  )
}

/** The subfolders of a folder in a drive or in a share. */
function useSubfolders(drive: string, share: string | undefined, path: string) {
  const [ofDrive, askDrive] = useQuery({
    query: SUBFOLDERS,
    variables: { drive, path },
    pause: share !== undefined,
    requestPolicy: 'cache-and-network',
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
 * The drives that the person may write to, with their names, own drive first. Empty while loading.
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
