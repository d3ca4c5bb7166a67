import { SelectField } from '../parts/form.tsx'
import type { Share } from './documents.ts'
import { text } from './text.ts'

/** What may be done with what is shared; each includes the ones before it. */
export type Access = 'view' | 'download' | 'edit'

const names = { view: 'canView', download: 'canDownload', edit: 'canEdit' } as const
const hints = { view: 'canViewHint', download: 'canDownloadHint', edit: 'canEditHint' } as const

export const newAccess: Access = 'download'

export const accessOf = (share: Share): Access =>
  share.__typename === 'DirectShare' && share.mayEdit
    ? 'edit'
    : share.allowDownload
      ? 'download'
      : 'view'

export const accessName = (share: Share): string => text(names[accessOf(share)])

interface AccessFieldProps {
  /** Only a person whose name is known may edit. */
  isDirect: boolean
  /** Several behind one share are for looking and downloading. */
  isSeveral: boolean
  access: Access
  onChange: (access: Access) => void
}

/** What the recipients of a share may do. */
export function AccessField({ isDirect, isSeveral, access, onChange }: AccessFieldProps) {
  const offered: readonly Access[] =
    isDirect && !isSeveral ? ['view', 'download', 'edit'] : ['view', 'download']
  return (
    <SelectField
      label={text('access')}
      hint={
        isDirect && isSeveral
          ? `${text(hints[access])} ${text('severalEdit')}`
          : text(hints[access])
      }
      name="access"
      options={offered.map(one => [one, text(names[one])])}
      value={access}
      onChange={({ target }) => onChange(target.value as Access)}
    />
  )
}

/** What has been chosen. */
export function readAccess(form: FormData, isDirect: boolean) {
  const access = form.get('access')
  return { allowDownload: access !== 'view', ...(isDirect && { mayEdit: access === 'edit' }) }
}
