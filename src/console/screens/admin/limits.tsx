import { useState } from 'react'
import { graphql, type ResultOf } from '../../graphql/graphql.ts'
import { formatBytes, formatNumber } from '../../i18n/format.ts'
import { FormDialog, TextField } from '../../parts/form.tsx'
import { text } from './text.ts'

export const APPLIED_LIMIT = graphql(`
  fragment LimitInForce on AppliedLimit {
    name
    value
    ofPlan
    from
  }
`)

export type LimitName = ResultOf<typeof APPLIED_LIMIT>['name']

export interface Limit {
  name: LimitName
  /** Null means unlimited. */
  value: number | null
}

const labels: Record<LimitName, string> = {
  MAX_FILE_SIZE: text('MAX_FILE_SIZE'),
  MAX_BYTES: text('MAX_BYTES'),
  MAX_FILES: text('MAX_FILES'),
  MAX_FOLDERS: text('MAX_FOLDERS'),
  MAX_NOTES: text('MAX_NOTES'),
  MAX_LINKS: text('MAX_LINKS'),
  MAX_API_KEYS: text('MAX_API_KEYS'),
  MAX_WORKSPACES: text('MAX_WORKSPACES'),
  MAX_WORKSPACE_BYTES: text('MAX_WORKSPACE_BYTES'),
  MAX_WORKSPACE_FILES: text('MAX_WORKSPACE_FILES'),
  MAX_WORKSPACE_FOLDERS: text('MAX_WORKSPACE_FOLDERS'),
  MAX_WORKSPACE_MEMBERS: text('MAX_WORKSPACE_MEMBERS'),
  MAX_WORKSPACE_API_KEYS: text('MAX_WORKSPACE_API_KEYS'),
  MAX_WORKSPACE_INVITES: text('MAX_WORKSPACE_INVITES'),
}

const isBytes = (name: LimitName) => /BYTES|FILE_SIZE/.test(name)

export const limitLabel = (name: LimitName): string => labels[name]

export const limitText = ({ name, value }: Limit): string =>
  value === null ? text('unlimited') : isBytes(name) ? formatBytes(value) : formatNumber(value)

const units = { TiB: 1024 ** 4, GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024 }

/** The text of the field: the exact value in the largest unit that divides it. */
function exactText({ name, value }: Limit): string {
  if (value === null) return text('unlimited')
  const unit =
    isBytes(name) && Object.entries(units).find(([, bytes]) => value > 0 && value % bytes === 0)
  return unit ? `${value / unit[1]} ${unit[0]}` : String(value)
}

/**
 * Parses the typed text.
 *
 * @throws if it is not a valid value
 */
function readValue(name: LimitName, typed: string): { value: number } | { unlimited: true } {
  if (/^(unlimited|unbegrenzt|∞)$/i.test(typed)) return { unlimited: true }
  const [, digits = '', unit] = /^(\d+(?:[.,]\d+)?)\s*([KMGT]iB)?$/i.exec(typed) ?? []
  const factor = Object.entries(units).find(
    ([known]) => known.toLowerCase() === unit?.toLowerCase(),
  )?.[1]
  const value = Number(digits.replace(',', '.')) * (factor ?? 1)
  if (digits === '' || !Number.isSafeInteger(value) || (factor !== undefined && !isBytes(name)))
    throw new Error(text('badValue', { value: typed, limit: limitLabel(name) }))
  return { value }
}

export type LimitInput = { name: LimitName; value?: number; unlimited?: boolean }

/**
 * Reads the changed limits of a form.
 *
 * @param isOwn whether an empty field falls back to the plan
 */
export function readLimits(
  form: FormData,
  initial: ReadonlyMap<LimitName, string>,
  isOwn: boolean,
): LimitInput[] {
  return [...initial].flatMap(([name, before]) => {
    const typed = String(form.get(name)).trim()
    if (typed === before) return []
    return typed === '' && isOwn ? [{ name }] : [{ name, ...readValue(name, typed) }]
  })
}

interface LimitFieldsProps {
  initial: ReadonlyMap<LimitName, string>
  /** The limits that apply when a field is empty. Without them, fields are required. */
  otherwise?: readonly Limit[]
}

/** One field per limit. */
export function LimitFields({ initial, otherwise }: LimitFieldsProps) {
  return [...initial].map(([name, before]) => {
    const inherited = otherwise?.find(limit => limit.name === name)
    return (
      <TextField
        key={name}
        name={name}
        label={limitLabel(name)}
        defaultValue={before}
        placeholder={inherited && limitText(inherited)}
        required={!otherwise}
        maxLength={40}
      />
    )
  })
}

export const initialLimits = (limits: readonly Limit[]): Map<LimitName, string> =>
  new Map(limits.map(limit => [limit.name, exactText(limit)]))

interface OwnLimitsProps {
  title: string
  limits: readonly ResultOf<typeof APPLIED_LIMIT>[]
  /** The source that limits set here will have. */
  own: 'ACCOUNT' | 'WORKSPACE'
  /** The limits that apply without own limits. */
  otherwise: readonly Limit[]
  onSave: (limits: LimitInput[]) => Promise<unknown>
  onClose: () => void
}

/** Edits the limits of one account or workspace. An empty field falls back to the plan. */
export function OwnLimits({ title, limits, own, otherwise, onSave, onClose }: OwnLimitsProps) {
  // The values from when the dialog opened, so that only edited fields are saved.
  const [initial] = useState(
    () => new Map(limits.map(limit => [limit.name, limit.from === own ? exactText(limit) : ''])),
  )
  return (
    <FormDialog
      title={title}
      label={text('save')}
      onClose={onClose}
      onSubmit={form => onSave(readLimits(form, initial, true))}
    >
      <p className="hint">{text('ownHint')}</p>
      <p className="hint">{text('shrinkHint')}</p>
      <LimitFields initial={initial} otherwise={otherwise} />
    </FormDialog>
  )
}
