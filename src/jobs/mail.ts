import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import nodemailer from 'nodemailer'
import type { Config } from '../config.ts'
import type { Jobs } from '../services/outbox.ts'
import { writeMail } from './mail-text.ts'

const SECOND = 1000

/** Sends mails: through the SMTP server, or into a folder of .eml files where none is configured. */
export function createMailer({ smtpUrl, mailFrom, dataDir }: Pick<Config, 'smtpUrl' | 'mailFrom' | 'dataDir'>) {
  const limits = { connectionTimeout: 10 * SECOND, greetingTimeout: 10 * SECOND, socketTimeout: 30 * SECOND }
  const transport = smtpUrl
    ? nodemailer.createTransport({ url: smtpUrl, ...limits })
    : nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
  const folder = join(dataDir, 'mail')

  return {
    /** Its id goes into Message-ID, so that a mail that was sent twice after a crash can be recognised. */
    async send(mail: Jobs['mail'], { id }: { id: string }): Promise<void> {
      const sent = await transport.sendMail({
        from: mailFrom,
        // An object, because a text would be parsed as a list of addresses.
        to: { name: '', address: mail.to },
        ...writeMail(mail),
        messageId: `<${id}@satchel>`,
      })
      if (smtpUrl || !('message' in sent)) return
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const draft = join(folder, `.${id}.tmp`)
      await writeFile(draft, sent.message as Buffer, { mode: 0o600 })
      await rename(draft, join(folder, `${id}.eml`))
    },
    close: () => transport.close(),
  }
}

export type Mailer = ReturnType<typeof createMailer>
