import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Language } from '../language/languages.ts'
import { causesOf } from '../runtime/errors.ts'
import { Hopeless } from '../services/job.ts'
import type { Mail } from '../services/notices/mail.ts'
import { byWord, silent, type Telemetry } from '../telemetry/telemetry.ts'
import { writeMail } from './mail-text.ts'

const SECOND = 1000
/** The time limit for a whole mail, so that a slow server does not delay the others forever. */
const LONGEST = 120 * SECOND

/**
 * Sends mails through the SMTP server, or writes .eml files into a folder if no server is
 * configured.
 */
export function createMailer(
  { smtpUrl, mailFrom, dataDir, brand }: Pick<Config, 'smtpUrl' | 'mailFrom' | 'dataDir' | 'brand'>,
  telemetry: Telemetry = silent,
) {
  const limits = {
    connectionTimeout: 10 * SECOND,
    greetingTimeout: 10 * SECOND,
    socketTimeout: 30 * SECOND,
  }
  /** Loaded with the first mail, because most instances send mails rarely. */
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    return smtpUrl
      ? createTransport({ url: smtpUrl, ...limits })
      : createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
  }
  let transport: ReturnType<typeof open> | undefined
  const folder = join(dataDir, 'mail')
  const note = byWord(outcome => telemetry.timer('mail', { outcome }))
  outcomes.forEach(note)

  async function deliver(
    mail: Mail,
    { id, language }: { id: string; language: Language },
  ): Promise<void> {
    const message = {
      from: mailFrom,
      // An object, because a text would be parsed as a list of addresses.
      to: { name: '', address: mail.to },
      ...writeMail(mail, language, brand),
      messageId: `<${id}@satchel>`,
      // Suppresses out-of-office replies.
      headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(mail) },
      signal: AbortSignal.timeout(LONGEST),
    }
    transport ??= open()
    const sent = await (await transport).sendMail(message).catch(error => {
      throw isRefused(error) ? new Hopeless(error.message, { cause: error }) : error
    })
    if (smtpUrl || !('message' in sent)) return
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const draft = join(folder, `.${id}.tmp`)
    await writeFile(draft, sent.message as Buffer, { mode: 0o600 })
    await rename(draft, join(folder, `${id}.eml`))
  }

  return {
    /**
     * The job's id becomes part of Message-ID, so that mail programs can recognise duplicates after
     * a crash.
     * @throws Hopeless if the server refuses this mail permanently; any other error may be
     * temporary
     */
    send: (mail: Mail, as: { id: string; language: Language }): Promise<void> =>
      telemetry.observe(
        { span: { name: `mail ${mail.template}`, kind: 'client' }, note, outcome: outcomeOf },
        () => deliver(mail, as),
      ),
    close: async () => (await transport)?.close(),
  }
}

const outcomes = ['sent', 'refused', 'failed'] as const

/** The outcome of sending a mail, in one word. */
const outcomeOf = (error: unknown): (typeof outcomes)[number] =>
  error === undefined ? 'sent' : error instanceof Hopeless ? 'refused' : 'failed'

/** RFC 8058: mail programs show an unsubscribe button that works without a visit. */
function unsubscribeHeaders(mail: Mail): Record<string, string> {
  if (!('stop' in mail) || !mail.stop) return {}
  return {
    'List-Unsubscribe': `<${mail.stop}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
}

/**
 * Whether the server refuses this mail permanently: a 5yz reply to its recipient or content. A 5yz
 * reply to the sender, login or connection concerns the operator, and may be fixed.
 */
function isRefused(error: unknown): boolean {
  const [outermost = {}] = causesOf(error)
  const { permanent, command } = outermost as { permanent?: unknown; command?: unknown }
  return permanent === true && (command === 'RCPT TO' || command === 'DATA')
}
