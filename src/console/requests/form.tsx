import './requests.css'
import { lazy, Suspense, useState } from 'react'
import { ensureFolder } from '../drive/create-folder.ts'
import { mutate } from '../graphql/run.ts'
import { Button } from '../parts/button.tsx'
import { CopyField } from '../parts/copy-field.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { CheckBox, FormDialog, SelectField, TextArea, TextField } from '../parts/form.tsx'
import { MAX_LABEL, MAX_MESSAGE, MAX_PASSWORD } from '../parts/limits.ts'
import { CREATE_REQUEST, type FileRequest, UPDATE_REQUEST } from './documents.ts'
import { text } from './text.ts'

const Picker = lazy(() => import('../drive/picker.tsx').then(({ Picker }) => ({ default: Picker })))

type SenderPlace = FileRequest['senderPlace']

/** A folder by its place. */
interface Place {
  drive: string
  path: string
}

/** A folder with the name of the request; an existing one receives the files, too. */
async function newFolder(drive: string, label: string): Promise<Place> {
  const path = label.replaceAll(/[/\\]/g, '-')
  await ensureFolder({ drive, isShared: false }, '', path)
  return { drive, path }
}

const MiB = 1024 * 1024
const KEEP = 'keep'

interface RequestFormProps {
  /** The request to edit; the folder for a new request, or the drive in which it is chosen. */
  of: { request: FileRequest } | { folder: { id: string; name: string } } | { drive: string }
  onClose: () => void
}

/** Creates or edits a file request. After creation, it shows the link. */
export function RequestForm({ of, onClose }: RequestFormProps) {
  const [link, setLink] = useState<string | null>(null)
  const request = 'request' in of ? of.request : undefined
  const [chosen, setChosen] = useState<Place | null>(null)
  const [isChoosing, setChoosing] = useState(false)
  const [expected, setExpected] = useState(request?.expected.join('\n') ?? '')
  const [place, setPlace] = useState<SenderPlace>(request?.senderPlace ?? 'NONE')
  const needsName = expected.trim() !== '' || place !== 'NONE'
  if (link !== null)
    return (
      <Dialog
        title={text('made')}
        isOpen
        onClose={onClose}
        footer={
          <Button look="primary" onPress={onClose}>
            {text('done')}
          </Button>
        }
      >
        <p>{text('madeHint')}</p>
        <CopyField label={text('link')} value={link} />
      </Dialog>
    )
  const submit = async (form: FormData) => {
    if ('request' in of) {
      await mutate(UPDATE_REQUEST, { input: { fileRequest: of.request.id, ...termsIn(form) } })
      onClose()
      return
    }
    const terms = termsIn(form)
    const folder =
      'folder' in of
        ? { id: of.folder.id }
        : { at: chosen ?? (await newFolder(of.drive, terms.label)) }
    const { createFileRequest } = await mutate(CREATE_REQUEST, { input: { folder, ...terms } })
    setLink(createFileRequest?.fileRequest.url ?? '')
  }
  return (
    <FormDialog
      title={text(request ? 'edit' : 'create')}
      label={text(request ? 'save' : 'make')}
      onClose={onClose}
      onDone={() => {}}
      onSubmit={submit}
    >
      {'folder' in of && (
        <p className="hint">{text('createHint', { folder: of.folder.name || text('root') })}</p>
      )}
      <TextField
        label={text('label')}
        hint={text('labelHint')}
        name="label"
        dir="auto"
        defaultValue={request?.label}
        required
        maxLength={MAX_LABEL}
        autoFocus
      />
      <TextArea
        label={text('message')}
        name="message"
        maxLength={MAX_MESSAGE}
        defaultValue={request?.message}
      />
      <SelectField
        label={text('ends')}
        name="duration"
        defaultValue={request ? KEEP : '30d'}
        options={[
          ...(request ? [[KEEP, text('keepEnd')] as const] : []),
          ['1d', text('day')],
          ['7d', text('week')],
          ['30d', text('month')],
          ['1y', text('year')],
          ['never', text('never')],
        ]}
      />
      {'drive' in of && (
        <div className="field">
          <span className="label">{text('folder')}</span>
          <div className="request-folder">
            <span dir="auto">{chosen ? chosen.path || text('root') : text('newFolder')}</span>
            <Button onPress={() => setChoosing(true)}>{text('chooseFolder')}</Button>
          </div>
          {isChoosing && (
            <Suspense>
              <Picker
                drive={of.drive}
                anyDrive
                title={text('folder')}
                doing="upload"
                label={text('chooseThis')}
                root={text('root')}
                start=""
                onPick={(path, drive) => {
                  setChosen({ drive, path })
                  setChoosing(false)
                }}
                onClose={() => setChoosing(false)}
              />
            </Suspense>
          )}
        </div>
      )}
      <TextArea
        label={text('expected')}
        hint={text('expectedHint')}
        name="expected"
        value={expected}
        onChange={({ target }) => setExpected(target.value)}
      />
      <CheckBox
        key={String(needsName)}
        name="asksName"
        label={text('asksName')}
        {...(needsName
          ? { checked: true, disabled: true, hint: text('asksNameNeeded') }
          : { defaultChecked: request?.asksName })}
      />
      <SelectField
        label={text('place')}
        name="senderPlace"
        value={place}
        onChange={({ target }) => setPlace(target.value as SenderPlace)}
        options={[
          ['NONE', text('placeNone')],
          ['PREFIX', text('placePrefix')],
          ['FOLDER', text('placeFolder')],
        ]}
      />
      <CheckBox
        name="notifies"
        label={text('notifies')}
        hint={text('notifiesHint')}
        defaultChecked={request?.notifies ?? true}
      />
      <Password isThere={request?.passwordProtected ?? false} />
      <details className="request-limits" open={hasLimits(request)}>
        <summary>{text('limits')}</summary>
        <div>
          <div className="request-numbers">
            <NumberField label={text('maxFiles')} name="maxFiles" value={request?.maxFiles} />
            <NumberField
              label={text('maxFileSize')}
              name="maxFileSize"
              value={inMiB(request?.maxFileSize)}
            />
            <NumberField
              label={text('maxBytes')}
              name="maxBytes"
              value={inMiB(request?.maxBytes)}
            />
          </div>
          <TextField
            label={text('kinds')}
            hint={text('kindsHint')}
            name="kinds"
            dir="ltr"
            spellCheck={false}
            defaultValue={request?.kinds.join(', ')}
          />
        </div>
      </details>
    </FormDialog>
  )
}

const inMiB = (bytes: number | null | undefined) => (bytes == null ? bytes : bytes / MiB)

const hasLimits = (request: FileRequest | undefined) =>
  request !== undefined &&
  (request.maxFiles !== null ||
    request.maxFileSize !== null ||
    request.maxBytes !== null ||
    request.kinds.length > 0)

/** The password field. A request that has a password can also drop it. */
function Password({ isThere }: { isThere: boolean }) {
  return (
    <>
      <TextField
        label={text('password')}
        hint={text(isThere ? 'passwordKept' : 'passwordHint')}
        name="password"
        type="password"
        maxLength={MAX_PASSWORD}
        autoComplete="new-password"
      />
      {isThere && <CheckBox name="noPassword" label={text('noPassword')} />}
    </>
  )
}

const NumberField = ({
  label,
  name,
  value,
}: {
  label: string
  name: string
  value: number | null | undefined
}) => (
  <TextField
    label={label}
    name={name}
    type="number"
    inputMode="decimal"
    min={name === 'maxFiles' ? 1 : 0.001}
    step={name === 'maxFiles' ? 1 : 'any'}
    placeholder={text('unlimited')}
    defaultValue={value ?? undefined}
  />
)

/** Reads the form. An empty limit removes the limit. An empty password keeps the current one. */
function termsIn(form: FormData) {
  const field = (name: string) => String(form.get(name) ?? '').trim()
  const amount = (name: string, unit: number) =>
    field(name) === '' ? null : Math.round(Number(field(name)) * unit)
  const expected = field('expected')
    .split('\n')
    .map(name => name.trim())
    .filter(name => name !== '')
  const senderPlace = field('senderPlace') as SenderPlace
  const [duration, password] = [field('duration'), String(form.get('password') ?? '')]
  return {
    label: field('label'),
    message: field('message'),
    ...(duration === KEEP ? {} : { duration }),
    ...(form.has('noPassword') ? { password: null } : password === '' ? {} : { password }),
    asksName: form.has('asksName') || expected.length > 0 || senderPlace !== 'NONE',
    expected,
    senderPlace,
    notifies: form.has('notifies'),
    maxFiles: amount('maxFiles', 1),
    maxFileSize: amount('maxFileSize', MiB),
    maxBytes: amount('maxBytes', MiB),
    kinds: field('kinds')
      .split(/[\s,]+/)
      .filter(kind => kind !== ''),
  }
}
