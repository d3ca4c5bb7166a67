import type { Language } from '../../src/language/languages.ts'
import { MAX_EMAIL } from '../../src/values/limits.ts'
import { flag, moment, type Row, table, text, touched, uuid, word } from './columns.ts'

export const planChoosers = ['default', 'claim', 'operator'] as const
export type PlanBy = (typeof planChoosers)[number]

/** How lists of files can be shown. */
export const layouts = ['list', 'tiles'] as const
export const tileSizes = ['small', 'medium', 'large'] as const

export const User = table({
  tableName: 'user',
  columns: {
    id: uuid.key(),
    /** As the provider wrote it. */
    email: text(MAX_EMAIL),
    /**
     * Lower-case, and set only when a provider has verified it; shares and invites are sent to it.
     * At most one account has it.
     */
    verifiedEmail: text(MAX_EMAIL).nullable(),
    name: text(255),
    givenName: text(255),
    familyName: text(255),
    picture: text(2048),
    locale: text(35),
    /** The language of mails to this person; null until the first sign-in in a browser. */
    language: word<Language>(8).nullable(),
    /** How lists of files are shown to this person, as JSON; null until they choose. */
    filesView: text(200).nullable(),
    planId: text(32).references('plan'),
    /**
     * Who chose the plan. At a sign-in, the plan of a claim replaces any plan that an operator did
     * not choose.
     */
    planBy: word<PlanBy>(16, 'default'),
    status: text<'active' | 'suspended'>(16),
    touched,
    createdAt: moment,
    /** Whether the user receives a mail about a sign-in from a new device. */
    signInNotices: flag.default(false),
  },
  unique: [['verifiedEmail']],
})

export type User = Row<typeof User>
