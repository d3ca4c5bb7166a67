import { formatBytes } from '../i18n/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { tight } from './add.ts'
import { FileList } from './file-list.tsx'
import { text } from './text.ts'

/** Explains which files do not fit and why, before anything is sent. */
export function TightDialog() {
  const problem = tight.use()
  if (!problem) return null
  const { tooLarge, maxFileSize, fitting, unfitting, needed, left, proceed } = problem
  const close = () => tight.set(null)
  return (
    <Dialog
      title={text('tight')}
      isOpen
      onClose={close}
      footer={
        <>
          <Button onPress={close}>{text('cancel')}</Button>
          {fitting.length > 0 && (
            <Button
              look="primary"
              onPress={() => {
                close()
                proceed()
              }}
            >
              {text('uploadFitting', { count: fitting.length })}
            </Button>
          )}
        </>
      }
    >
      {unfitting.length > 0 && (
        <>
          <p>
            {text('noSpace', { needed: formatBytes(needed), left: formatBytes(left) })}{' '}
            {text('makeSpace')}
          </p>
          <FileList files={unfitting} />
        </>
      )}
      {tooLarge.length > 0 && (
        <>
          <p>{text('tooLarge', { count: tooLarge.length, max: formatBytes(maxFileSize) })}</p>
          <FileList files={tooLarge} />
        </>
      )}
    </Dialog>
  )
}
