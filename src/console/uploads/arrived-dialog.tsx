import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Picker } from '../drive/picker.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { toast, toastError } from '../parts/toasts.tsx'
import { add } from './add.ts'
import { discardArrived, readArrived } from './arrived.ts'
import { FileList } from './file-list.tsx'
import type { Gathered } from './gather.ts'
import { text } from './text.ts'

const addressesOf = (files: readonly Gathered[]) => files.flatMap(({ arrived }) => arrived ?? [])

/** Asks where to put files that the system shared with the console. */
export function ArrivedDialog({ drive }: { drive: string }) {
  const [files, setFiles] = useState<readonly Gathered[]>([])
  const [isDiscarding, setDiscarding] = useState(false)
  useEffect(() => void readArrived().then(setFiles, toastError), [])
  useUnshared()

  async function upload(folder: string) {
    setFiles([])
    // Another tab may be asking, too.
    const waiting = new Set(addressesOf(await readArrived()))
    const rest = files.filter(({ arrived }) => arrived && waiting.has(arrived))
    await add({ files: rest, emptyFolders: [], unreadable: [] }, { drive, folder })
  }

  if (files.length === 0) return null
  const count = files.length
  if (isDiscarding)
    return (
      <Confirm
        title={text('discardTitle', { count })}
        isOpen
        label={text('discard')}
        onConfirm={() => {
          setFiles([])
          void discardArrived(addressesOf(files))
        }}
        onClose={() => setDiscarding(false)}
      >
        <p>{text('discardWhy', { count })}</p>
      </Confirm>
    )
  return (
    <Picker
      drive={drive}
      title={text('arrivedTitle', { count })}
      doing="upload"
      label={text('uploadHere')}
      root={text('root')}
      start=""
      onPick={folder => {
        setDiscarding(false)
        void upload(folder).catch(toastError)
      }}
      onClose={() => setDiscarding(true)}
    >
      <FileList files={files} />
    </Picker>
  )
}

/** Reports files that the system shared but that could not be kept. */
function useUnshared(): void {
  const { unshared }: { unshared?: true } = useSearch({ strict: false })
  const navigate = useNavigate()
  useEffect(() => {
    if (!unshared) return
    toast({ tone: 'error', message: text('unshared'), seconds: 30 })
    void navigate({ to: '.', search: now => ({ ...now, unshared: undefined }), replace: true })
  }, [unshared, navigate])
}
