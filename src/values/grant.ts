/** What lets others reach a drive: a link, a share with one e-mail address, or a file request. */
export const grantKinds = ['link', 'direct', 'request'] as const
export type GrantKind = (typeof grantKinds)[number]

/** The rules of the settings that a grant can break. */
export const sharingRules = ['duration', 'password', 'outside'] as const
export type SharingRule = (typeof sharingRules)[number]
