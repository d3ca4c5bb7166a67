import escapeHtml from 'escape-html'
import { oneLine } from '../one-line.ts'
import type { Mail } from '../services/outbox.ts'

export interface MailText {
  subject: string
  text: string
  html: string
}

/** Writes a mail, as text and as HTML. Names come from people: they are shown, never believed. */
export function writeMail(mail: Mail): MailText {
  if (mail.template === 'invite') {
    const { workspace, role, by, link } = mail.values
    return compose({
      subject: `${brief(by)} invites you to ${brief(workspace)}`,
      lines: [
        `${brief(by)} invites you to the workspace "${brief(workspace)}" as ${role}.`,
        'The invite is valid for 7 days.',
      ],
      links: [{ title: 'Open the invite', url: link }],
    })
  }
  if (mail.template === 'address-changed')
    return compose({
      subject: 'Your account has another address now',
      lines: [
        `Your account had this e-mail address until now. The sign-in provider "${brief(mail.values.provider)}" says that it has another one, so the account follows.`,
        'Files that are shared with this address, and invites to it, do not reach the account any more. If this is wrong, ask the operator of the service.',
      ],
      links: [],
    })
  if (mail.template === 'sign-in') {
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
  const { files, by, links, expires, protected: isProtected } = mail.values
  const what = files.length === 1 ? `"${brief(files[0] ?? '')}"` : `${files.length} files`
  return compose({
    subject: `${brief(by)} shares ${what} with you`,
    lines: [
      `${brief(by)} shares ${what} with you, until ${expires.slice(0, 10)}.`,
      ...(isProtected ? ['You need a password, which the sender will tell you in another way.'] : []),
    ],
    links: links.map((url, i) => ({ title: brief(files[i] ?? 'Open'), url })),
  })
}

/** No name may begin a header of its own, or fill a mail. */
const brief = (text: string): string => [...oneLine(text)].slice(0, 200).join('')

function compose({
  subject,
  lines,
  links,
  closing = 'You get this mail because somebody gave your address to Satchel. If you do not know them, ignore it.',
}: {
  subject: string
  lines: string[]
  links: { title: string; url: string }[]
  closing?: string
}): MailText {
  const html = [
    ...lines.map(line => `<p>${escapeHtml(line)}</p>`),
    ...links.map(({ title, url }) => `<p><a href="${escapeHtml(url)}">${escapeHtml(title)}</a></p>`),
    `<p style="color:#667">${escapeHtml(closing)}</p>`,
  ].join('\n')
  return {
    subject,
    text: [...lines, ...links.map(({ title, url }) => `${title}\n${url}`), closing].join('\n\n'),
    html: `<!doctype html><html><body style="font-family:system-ui,sans-serif;line-height:1.5">\n${html}\n</body></html>`,
  }
}
