import prettyBytes from 'pretty-bytes'
import type { AccountNotice, Mail } from '../services/notices/outbox.ts'
import { momentText } from '../values/moment.ts'
import { oneLine } from '../values/one-line.ts'
import { shareTitle } from '../values/share-title.ts'
import { compose, type MailText, type Parts, sentence } from './mail-layout.ts'
import { plainFileName, plainLines, plainName } from './mail-name.ts'

type Values<T extends Mail['template']> = Extract<Mail, { template: T }>['values']

/** Composes a mail as text and as HTML. User-supplied names are truncated. */
export const writeMail = (mail: Mail): MailText => compose(partsOf(mail))

function partsOf(mail: Mail): Parts {
  switch (mail.template) {
    case 'address-changed':
      return addressChanged(mail.values)
    case 'account-link':
      return accountLink(mail.values)
    case 'account-notice':
      return accountNotice(mail.values)
    case 'sign-in':
      return signedIn(mail.values)
    case 'webhook-disabled':
      return webhookDisabled(mail.values)
    case 'over-quota':
      return overQuota(mail.values)
    case 'files-received':
      return filesReceived(mail.values)
    case 'share-used':
      return shareUsed(mail.values)
    case 'invite':
      return { ...invited(mail.values), stop: mail.stop }
    case 'share':
      return { ...shared(mail.values), stop: mail.stop }
  }
}

/** The maximum length of user-supplied text in a mail. */
const MAX_BRIEF = 200
const brief = (text: string): string => [...oneLine(text)].slice(0, MAX_BRIEF).join('')

const sizeText = (bytes: number) => prettyBytes(bytes, { binary: true })

const addressChanged = ({ provider }: Values<'address-changed'>): Parts => ({
  subject: 'The e-mail address of your account has changed',
  lines: [
    provider === null
      ? 'Your account had this e-mail address until now. The sign-in method that the address came from was removed from the account.'
      : sentence`Your account had this e-mail address until now. The sign-in provider "${brief(provider)}" reports another one, so the account follows.`,
    'Files that are shared with this address, and invites to it, no longer reach the account. If this is wrong, ask the operator of the service.',
  ],
  links: [],
  closing: 'You get this mail because an account had your address.',
})

const accountLinks: Record<
  Values<'account-link'>['about'],
  { subject: string; lines: string[]; title: string }
> = {
  invite: {
    subject: 'Your account at Satchel',
    lines: ['An operator of a Satchel server invites you. Open this link to create your account.'],
    title: 'Create your account',
  },
  'sign-up': {
    subject: 'Create your Satchel account',
    lines: ['Open this link to confirm your e-mail address and to create your account.'],
    title: 'Create your account',
  },
  known: {
    subject: 'You have a Satchel account already',
    lines: [
      'Someone entered your address to create an account, and you have one. If this was you, sign in, or reset your password on that page.',
    ],
    title: 'Sign in',
  },
  reset: {
    subject: 'Reset your Satchel password',
    lines: ['Open this link to choose a new password. All of your sessions end with that.'],
    title: 'Choose a new password',
  },
  address: {
    subject: 'Confirm the e-mail address of your Satchel account',
    lines: ['Open this link to agree that your account changes to or from this e-mail address.'],
    title: 'Confirm',
  },
}

const accountLink = ({ about, link }: Values<'account-link'>): Parts => {
  const { subject, lines, title } = accountLinks[about]
  return {
    subject,
    lines,
    facts: about === 'known' ? [] : [{ name: 'Valid', value: 'once, for a limited time' }],
    links: [{ title, url: link }],
    closing: 'If you did not expect this mail, ignore it. Nothing has changed.',
  }
}

const accountNotices: Record<AccountNotice, string> = {
  password: 'The password of your account was changed. All other sessions have ended.',
  'passkey-added': 'A new passkey was added to your account.',
  'passkey-removed': 'A passkey was removed from your account.',
  'factor-added': 'A code from an app is now asked for when you sign in with your password.',
  'factor-removed': 'The second factor was removed from your account.',
  codes: 'New recovery codes were made for your account. The earlier ones no longer work.',
  address: 'The e-mail address of your account was changed.',
}

const accountNotice = ({ what, link }: Values<'account-notice'>): Parts => ({
  subject: 'The security of your Satchel account has changed',
  lines: [
    accountNotices[what],
    'If this was you, you need not do anything. If it was not, open the page below and change your password, or ask the operator of the service.',
  ],
  links: [{ title: 'Security of your account', url: link }],
  closing: 'You get this mail because you have an account with this address.',
})

const signedIn = ({ device, address, at, link }: Values<'sign-in'>): Parts => ({
  subject: 'New sign-in to your Satchel account',
  lines: [
    'Someone signed in to your account on a device that was not used with it before.',
    'If this was you, you need not do anything. If it was not, end that session on the page below, then secure your account at your sign-in provider.',
  ],
  facts: [
    { name: 'Device', value: brief(device) },
    { name: 'Network', value: brief(address) },
    { name: 'Time', value: momentText(Date.parse(at)) },
  ],
  links: [{ title: 'Your sessions', url: link }],
  closing:
    'You get this mail because you asked for it. You can turn these mails off on the same page.',
})

const webhookDisabled = ({ host, since }: Values<'webhook-disabled'>): Parts => ({
  subject: `Your webhook to ${plainName(brief(host))} was disabled`,
  lines: [
    sentence`Your webhook to "${brief(host)}" has failed for three days, or its receiver answered that it accepts no more events. No more events are sent to it.`,
    'The list of its last attempts shows what went wrong. When the receiver works again, resume the webhook. Events from the meantime are then delivered, if they are still kept.',
  ],
  facts: [{ name: 'Failing since', value: momentText(Date.parse(since)) }],
  links: [],
  closing: 'You get this mail because you made this webhook or changed it last.',
})

function overQuota({ workspace, link, ...of }: Values<'over-quota'>): Parts {
  const [files, folders] = [of.maxFiles ?? Infinity, of.maxFolders ?? Infinity]
  const name = workspace === null ? null : plainName(brief(workspace)) || 'your workspace'
  return {
    subject:
      name === null
        ? 'Your files exceed the limits of your account'
        : `The files of ${name} exceed its limits`,
    lines: [
      name === null
        ? 'The limits of your account have become smaller, and it stores more than they allow.'
        : sentence`The limits of the workspace "${name}", which you own, have become smaller, and it stores more than they allow.`,
      'Your files are kept: they stay readable, and shares go on. Older versions and the trash are deleted sooner. New files are refused until enough is deleted, or the limits are raised. Ask the operator of the service about the limits.',
    ],
    facts: [
      ...(of.usedBytes > of.maxBytes
        ? [{ name: 'Stored', value: `${sizeText(of.usedBytes)} of ${sizeText(of.maxBytes)}` }]
        : []),
      ...(of.usedFiles > files ? [{ name: 'Files', value: `${of.usedFiles} of ${files}` }] : []),
      ...(of.usedFolders > folders
        ? [{ name: 'Folders', value: `${of.usedFolders} of ${folders}` }]
        : []),
    ],
    links: link === '' ? [] : [{ title: 'Your files', url: link }],
    closing:
      'You get this mail because an operator of the service changed the limits that apply to you.',
  }
}

function filesReceived({ label, files, bytes, link }: Values<'files-received'>): Parts {
  const what = files === 1 ? 'A file' : `${files} files`
  return {
    subject: `${what} arrived for ${plainName(label) || 'your file request'}`,
    lines: [sentence`${what} arrived for your file request "${brief(label)}".`],
    facts: [{ name: files === 1 ? 'Size' : 'Size of all', value: sizeText(bytes) }],
    links: [{ title: 'See the new files', url: link }],
    closing:
      'You get this mail because you made this file request. You can turn these mails off on the same page.',
  }
}

function shareUsed({ name, count = null, opened, downloaded, link }: Values<'share-used'>): Parts {
  const times = (count: number) => (count === 1 ? 'once' : `${count} times`)
  const uses = [
    ...(opened > 0 ? [`opened ${times(opened)}`] : []),
    ...(downloaded > 0 ? [`downloaded ${times(downloaded)}`] : []),
  ].join(' and ')
  return {
    subject: `Your share of ${shareTitle(plainFileName(name), count)} was used`,
    lines: [
      [
        ...sentence`Your share of "${shareTitle(brief(name), count)}" was `,
        `${uses} since the last mail.`,
      ],
    ],
    links: [{ title: 'Your shares', url: link }],
    closing:
      'You get this mail because you asked for it when you shared this. You can turn these mails off on the same page.',
  }
}

/**
 * The user who caused a mail. The e-mail address is always included, because anyone can choose any
 * name.
 */
function senderOf({ by, address: given }: { by: string; address?: string }) {
  const address = oneLine(given ?? '')
  const name = by === address ? '' : plainName(by)
  const short = name || address || 'Someone'
  return {
    short,
    whole: name && address ? sentence`${name} (${address})` : short,
    closing: `You get this mail because ${address || 'someone'} gave your address to Satchel. If you do not know them, ignore it.`,
  }
}

/** The personal message in a mail. */
function wordsOf(by: string, message = ''): Parts['words'] {
  const lines = plainLines(message)
  return lines.length > 0 ? { by, lines } : undefined
}

function invited({ role, link, workspace: given, message, ...by }: Values<'invite'>): Parts {
  const { short, whole, closing } = senderOf(by)
  const workspace = plainName(given) || 'a workspace'
  return {
    subject: `${short} invites you to ${workspace}`,
    lines: [sentence`${whole} invites you to the workspace "${workspace}" as ${role}.`],
    words: wordsOf(short, message),
    facts: [{ name: 'Valid for', value: '7 days' }],
    links: [{ title: 'Open the invite', url: link }],
    closing,
  }
}

function shared({
  files,
  counts = [],
  links,
  sizes = [],
  expires,
  message,
  all,
  ...rest
}: Values<'share'>): Parts {
  const { short, whole, closing } = senderOf(rest)
  const names = files.map((name, i) => shareTitle(plainFileName(name), counts[i] ?? null))
  const [only] = names.length === 1 ? names : []
  const are = sizes.includes(null) ? 'items' : 'files'
  const what = only === undefined ? `${names.length} ${are}` : `"${only}"`
  const items = names.map((name, i) => ({
    name,
    about: sizes[i] == null ? '' : sizeText(sizes[i]),
    url: only === undefined ? links[i] : undefined,
  }))
  const goal = only === undefined ? all : links[0]
  return {
    subject: `${short} shares ${what} with you`,
    lines: [
      only === undefined
        ? sentence`${whole} shares ${what} with you.`
        : sentence`${whole} shares "${only}" with you.`,
      ...(rest.protected
        ? ['You need a password, which the sender will give you in another way.']
        : []),
    ],
    words: wordsOf(short, message),
    items,
    facts: expires === null ? [] : [{ name: 'Until', value: momentText(Date.parse(expires)) }],
    links: goal
      ? [{ title: only === undefined ? 'See everything shared with you' : 'Open', url: goal }]
      : [],
    closing,
  }
}
