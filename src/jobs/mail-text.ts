import escapeHtml from 'escape-html'
import { oneLine } from '../one-line.ts'
import type { Mail } from '../services/notices/outbox.ts'
import { plainFileName, plainName } from './mail-name.ts'

export interface MailText {
  subject: string
  text: string
  html: string
}

interface Parts {
  subject: string
  lines: string[]
  links: { title: string; url: string }[]
  closing: string
  /** Where such mails are stopped. */
  stop?: string | undefined
}

/** Writes a mail, as text and as HTML. Names come from people: they are cut to what a name is. */
export function writeMail(mail: Mail): MailText {
  switch (mail.template) {
    case 'address-changed':
      return compose({
        subject: 'Your account has another address now',
        lines: [
          mail.values.provider === null
            ? 'Your account had this e-mail address until now. The way to sign in that the address came from was removed from the account.'
            : `Your account had this e-mail address until now. The sign-in provider "${brief(mail.values.provider)}" reports another one, so the account follows.`,
          'Files that are shared with this address, and invites to it, do not reach the account any more. If this is wrong, ask the operator of the service.',
        ],
        links: [],
        closing: 'You get this mail because an account had your address.',
      })
    case 'sign-in': {
      const { device, address, at, link } = mail.values
      return compose({
        subject: 'New sign-in to your Satchel account',
        lines: [
          `Your account was signed in to on a device that it had not been used on before: ${brief(device)}, from the network ${brief(address)}, at ${at.slice(0, 16).replace('T', ' ')} UTC.`,
          'If this was you, there is nothing to do. If it was not, end that session on the page below, then secure your account at the provider with which you sign in.',
        ],
        links: [{ title: 'Your sessions', url: link }],
        closing: 'You get this mail because you asked for it. You can turn these mails off on the same page.',
      })
    }
    case 'webhook-disabled': {
      const host = brief(mail.values.host)
      return compose({
        subject: `Your webhook to ${plainName(host)} was disabled`,
        lines: [
          `Your webhook to "${host}" has failed since ${mail.values.since.slice(0, 16).replace('T', ' ')} UTC, or its receiver has said that it wants no more. Nothing is sent to it any more.`,
          'The list of its last attempts says what went wrong. When the receiver works again, resume the webhook: what has happened meanwhile is then delivered, as far as it is kept.',
        ],
        links: [],
        closing: 'You get this mail because you have made this webhook, or changed it last.',
      })
    }
    default:
      return compose(causedBy(mail))
  }
}

/** What is about the account itself is whole lines of a known length. */
const brief = (text: string): string => [...oneLine(text)].slice(0, 200).join('')

/** A mail that another user causes. The text always contains their e-mail address, because anyone can choose any name. */
function causedBy(mail: Extract<Mail, { stop?: string }>): Parts {
  const { by } = mail.values
  const address = oneLine(mail.values.address ?? '')
  const name = by === address ? '' : plainName(by)
  const short = name || address || 'Someone'
  const sender = name && address ? `${name} (${address})` : short
  const closing = `You get this mail because ${address || 'someone'} gave your address to Satchel. If you do not know them, ignore it.`
  if (mail.template === 'invite') {
    const { role, link } = mail.values
    const workspace = plainName(mail.values.workspace) || 'a workspace'
    return {
      subject: `${short} invites you to ${workspace}`,
      lines: [`${sender} invites you to the workspace "${workspace}" as ${role}.`, 'The invite is valid for 7 days.'],
      links: [{ title: 'Open the invite', url: link }],
      closing,
      stop: mail.stop,
    }
  }
  const { links, expires, protected: isProtected } = mail.values
  const files = mail.values.files.map(plainFileName)
  const what = files.length === 1 ? `"${files[0]}"` : `${files.length} files`
  return {
    subject: `${short} shares ${what} with you`,
    lines: [
      `${sender} shares ${what} with you, until ${expires.slice(0, 10)}.`,
      ...(isProtected ? ['You need a password, which the sender will tell you in another way.'] : []),
    ],
    links: links.map((url, i) => ({ title: files[i] ?? 'Open', url })),
    closing,
    stop: mail.stop,
  }
}

function compose({ subject, lines, links, closing, stop }: Parts): MailText {
  const last = stop ? [{ title: 'Stop such mails to your address', url: stop }] : []
  const small = '<p style="color:#667">'
  const html = [
    ...lines.map(line => `<p>${escapeHtml(line)}</p>`),
    ...links.map(({ title, url }) => `<p><a href="${escapeHtml(url)}">${escapeHtml(title)}</a></p>`),
    `${small}${escapeHtml(closing)}</p>`,
    ...last.map(({ title, url }) => `${small}<a href="${escapeHtml(url)}">${escapeHtml(title)}</a></p>`),
  ].join('\n')
  return {
    subject,
    text: [
      ...lines,
      ...links.map(({ title, url }) => `${title}\n${url}`),
      closing,
      ...last.map(({ title, url }) => `${title}:\n${url}`),
    ].join('\n\n'),
    html: `<!doctype html><html><body style="font-family:system-ui,sans-serif;line-height:1.5">\n${html}\n</body></html>`,
  }
}
