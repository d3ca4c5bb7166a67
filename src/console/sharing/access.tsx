import { SelectField } from '../parts/form.tsx'
import type { Share } from './documents.ts'
import { text } from './text.ts'

/** Permissions of a share. Each includes the previous ones. */
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
  /** Only a share with a known person can allow editing. */
  isDirect: boolean
  /** A share of several entries allows viewing and downloading only. */
  isSeveral: boolean
  access: Access
  onChange: (access: Access) => void
}

/** The permission field of a share. */
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

/** Reads the chosen permission. */
export function readAccess(form: FormData, isDirect: boolean) {
  const access = form.get('access')
  return { allowDownload: access !== 'view', ...(isDirect && { mayEdit: access === 'edit' }) }
}
