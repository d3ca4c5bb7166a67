import prettyBytes from 'pretty-bytes'
import type { Brand } from '../config/brand.ts'
import { type Language, locales } from '../language/languages.ts'
import type { AccountNotice, Mail } from '../services/notices/mail.ts'
import { momentText } from '../values/moment.ts'
import { oneLine } from '../values/one-line.ts'
import {
  compose,
  type MailKey,
  type MailText,
  type MailWords,
  mailWords,
  type Parts,
} from './mail-layout.ts'
import { plainFileName, plainLines, plainName } from './mail-name.ts'

type Values<T extends Mail['template']> = Extract<Mail, { template: T }>['values']

/** Composes a mail as text and as HTML. User-supplied names are truncated. */
export function writeMail(mail: Mail, language: Language, brand: Brand): MailText {
  const words = mailWords(language, brand)
  return compose(partsOf(mail, words), words)
}

function partsOf(mail: Mail, words: MailWords): Parts {
  switch (mail.template) {
    case 'address-changed':
      return addressChanged(mail.values, words)
    case 'account-link':
      return accountLink(mail.values, words)
    case 'account-notice':
      return accountNotice(mail.values, words)
    case 'sign-in':
      return signedIn(mail.values, words)
    case 'webhook-disabled':
      return webhookDisabled(mail.values, words)
    case 'over-quota':
      return overQuota(mail.values, words)
    case 'files-received':
      return filesReceived(mail.values, words)
    case 'share-used':
      return shareUsed(mail.values, words)
    case 'invite':
      return { ...invited(mail.values, words), stop: mail.stop }
    case 'share':
      return { ...shared(mail.values, words), stop: mail.stop }
  }
}

/** The maximum length of user-supplied text in a mail. */
const MAX_BRIEF = 200
const brief = (text: string): string => [...oneLine(text)].slice(0, MAX_BRIEF).join('')

const sizeText = (bytes: number, { language }: MailWords) =>
  prettyBytes(bytes, { binary: true, ...(language === 'en' ? {} : { locale: locales[language] }) })

const timeText = (iso: string, { language }: MailWords) =>
  momentText(Date.parse(iso), locales[language])

const addressChanged = (
  { provider }: Values<'address-changed'>,
  { say, sentence }: MailWords,
): Parts => ({
  subject: say('addressChangedSubject'),
  lines: [
    provider === null
      ? say('addressRemoved')
      : sentence('addressReported', { provider: brief(provider) }),
    say('addressEffect'),
  ],
  links: [],
  closing: say('addressClosing'),
})

const accountLinks: Record<
  Values<'account-link'>['about'],
  [subject: MailKey, line: MailKey, title: MailKey]
> = {
  invite: ['inviteLinkSubject', 'inviteLink', 'createAccount'],
  'sign-up': ['signUpSubject', 'signUp', 'createAccount'],
  known: ['knownSubject', 'known', 'signIn'],
  reset: ['resetSubject', 'reset', 'resetTitle'],
  address: ['confirmSubject', 'confirm', 'confirmTitle'],
}

const accountLink = ({ about, link }: Values<'account-link'>, { say }: MailWords): Parts => {
  const [subject, line, title] = accountLinks[about]
  return {
    subject: say(subject),
    lines: [say(line)],
    facts: about === 'known' ? [] : [{ name: say('valid'), value: say('validOnce') }],
    links: [{ title: say(title), url: link }],
    closing: say('linkClosing'),
  }
}

const accountNotices: Record<AccountNotice, MailKey> = {
  password: 'noticePassword',
  'passkey-added': 'noticePasskeyAdded',
  'passkey-removed': 'noticePasskeyRemoved',
  'factor-added': 'noticeFactorAdded',
  'factor-removed': 'noticeFactorRemoved',
  codes: 'noticeCodes',
  address: 'noticeAddress',
}

const accountNotice = ({ what, link }: Values<'account-notice'>, { say }: MailWords): Parts => ({
  subject: say('noticeSubject'),
  lines: [say(accountNotices[what]), say('noticeAdvice')],
  links: [{ title: say('security'), url: link }],
  closing: say('noticeClosing'),
})

const signedIn = ({ device, address, at, link }: Values<'sign-in'>, words: MailWords): Parts => {
  const { say } = words
  return {
    subject: say('signedInSubject'),
    lines: [say('signedIn'), say('signedInAdvice')],
    facts: [
      { name: say('device'), value: brief(device) },
      { name: say('network'), value: brief(address) },
      { name: say('time'), value: timeText(at, words) },
    ],
    links: [{ title: say('sessions'), url: link }],
    closing: say('signedInClosing'),
  }
}

const webhookDisabled = ({ host, since }: Values<'webhook-disabled'>, words: MailWords): Parts => {
  const { say, sentence } = words
  return {
    subject: say('webhookSubject', { host: plainName(brief(host)) }),
    lines: [sentence('webhook', { host: brief(host) }), say('webhookAdvice')],
    facts: [{ name: say('failingSince'), value: timeText(since, words) }],
    links: [],
    closing: say('webhookClosing'),
  }
}

function overQuota({ workspace, link, ...of }: Values<'over-quota'>, words: MailWords): Parts {
  const { say, sentence } = words
  const [files, folders] = [of.maxFiles ?? Infinity, of.maxFolders ?? Infinity]
  const name = workspace === null ? null : plainName(brief(workspace)) || say('yourWorkspace')
  const ofMost = (used: string, most: string) => say('of', { used, most })
  return {
    subject: name === null ? say('overSubject') : say('overSubjectOf', { name }),
    lines: [name === null ? say('over') : sentence('overOf', { name }), say('overEffect')],
    facts: [
      ...(of.usedBytes > of.maxBytes
        ? [
            {
              name: say('stored'),
              value: ofMost(sizeText(of.usedBytes, words), sizeText(of.maxBytes, words)),
            },
          ]
        : []),
      ...(of.usedFiles > files
        ? [{ name: say('files'), value: ofMost(`${of.usedFiles}`, `${files}`) }]
        : []),
      ...(of.usedFolders > folders
        ? [{ name: say('folders'), value: ofMost(`${of.usedFolders}`, `${folders}`) }]
        : []),
    ],
    links: link === '' ? [] : [{ title: say('yourFiles'), url: link }],
    closing: say('overClosing'),
  }
}

function filesReceived(
  { label, files: count, bytes, link }: Values<'files-received'>,
  words: MailWords,
): Parts {
  const { say, sentence } = words
  return {
    subject: say('arrivedSubject', { count, name: plainName(label) || say('yourRequest') }),
    lines: [sentence('arrived', { count, name: brief(label) })],
    facts: [{ name: say('size', { count }), value: sizeText(bytes, words) }],
    links: [{ title: say('seeNew'), url: link }],
    closing: say('arrivedClosing'),
  }
}

/** The title of a share, like `shareTitle`. */
const titleOf = (name: string, count: number | null, { say }: MailWords): string =>
  count === null || count < 2 ? name : say('andMore', { name, count: count - 1 })

function shareUsed(
  { name, count = null, opened, downloaded, link }: Values<'share-used'>,
  words: MailWords,
): Parts {
  const { say, sentence } = words
  const key =
    opened > 0 && downloaded > 0 ? 'openedAndDownloaded' : opened > 0 ? 'opened' : 'downloaded'
  const uses = { opens: opened, downloads: downloaded }
  return {
    subject: say('usedSubject', { name: titleOf(fileNameOf(name, words), count, words) }),
    lines: [sentence(key, { name: titleOf(brief(name), count, words), ...uses })],
    links: [{ title: say('yourShares'), url: link }],
    closing: say('usedClosing'),
  }
}

const fileNameOf = (name: string, { say }: MailWords) => plainFileName(name) || say('aFile')

/**
 * The user who caused a mail. The e-mail address is always included, because anyone can choose any
 * name.
 */
function senderOf(
  { by, address: given }: { by: string; address?: string },
  { say, sentence }: MailWords,
) {
  const address = oneLine(given ?? '')
  const name = by === address ? '' : plainName(by)
  const short = name || address || say('someone')
  return {
    short,
    whole: name && address ? sentence('sender', { name, address }) : short,
    closing: address ? say('senderClosing', { address }) : say('someoneClosing'),
  }
}

/** The personal message in a mail. */
function wordsOf(by: string, message = ''): Parts['words'] {
  const lines = plainLines(message)
  return lines.length > 0 ? { by, lines } : undefined
}

const roles: Record<string, MailKey> = {
  admin: 'roleAdmin',
  editor: 'roleEditor',
  viewer: 'roleViewer',
}

function invited(
  { role, link, workspace: given, message, ...by }: Values<'invite'>,
  words: MailWords,
): Parts {
  const { say, sentence } = words
  const { short, whole, closing } = senderOf(by, words)
  const workspace = plainName(given) || say('aWorkspace')
  const named = roles[role]
  return {
    subject: say('inviteSubject', { name: short, workspace }),
    lines: [sentence('invite', { name: whole, workspace, role: [named ? say(named) : role] })],
    words: wordsOf(short, message),
    facts: [{ name: say('validFor'), value: say('sevenDays') }],
    links: [{ title: say('openInvite'), url: link }],
    closing,
  }
}

function shared(
  { files, counts = [], links, sizes = [], expires, message, all, ...rest }: Values<'share'>,
  words: MailWords,
): Parts {
  const { say, sentence } = words
  const { short, whole, closing } = senderOf(rest, words)
  const names = files.map((name, i) => titleOf(fileNameOf(name, words), counts[i] ?? null, words))
  const [only] = names.length === 1 ? names : []
  const are = sizes.includes(null) ? 'countItems' : 'countFiles'
  const many = say(are, { count: names.length })
  const items = names.map((name, i) => ({
    name,
    about: sizes[i] == null ? '' : sizeText(sizes[i], words),
    url: only === undefined ? links[i] : undefined,
  }))
  const goal = only === undefined ? all : links[0]
  const what = only === undefined ? [many] : sentence('quoted', { name: only })
  return {
    subject: say('sharedSubject', {
      name: short,
      what: only === undefined ? many : say('quoted', { name: only }),
    }),
    lines: [
      sentence('shared', { name: whole, what }),
      ...(rest.protected ? [say('needsPassword')] : []),
    ],
    words: wordsOf(short, message),
    items,
    facts: expires === null ? [] : [{ name: say('until'), value: timeText(expires, words) }],
    links: goal ? [{ title: say(only === undefined ? 'seeAll' : 'open'), url: goal }] : [],
    closing,
  }
}
