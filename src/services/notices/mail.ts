import type { Language } from '../../language/languages.ts'
import { DAY_MS } from '../../values/duration.ts'
import { type Job, USUAL_AT_A_TIME } from '../job.ts'

/** A mail that another user causes; its recipient can unsubscribe at this URL. */
interface Caused {
  stop?: string
}

/** The user who causes a mail: their name and verified e-mail address. */
interface Sender {
  by: string
  address?: string
}

/** A change of an account's credentials, which its owner learns by mail. */
export type AccountNotice =
  | 'password'
  | 'passkey-added'
  | 'passkey-removed'
  | 'factor-added'
  | 'factor-removed'
  | 'codes'
  | 'address'

/** A mail to render when it is sent: its template and values. */
export type Mail =
  | (Caused & {
      template: 'invite'
      to: string
      values: { workspace: string; role: string; link: string; message?: string } & Sender
    })
  | (Caused & {
      template: 'share'
      to: string
      /**
       * `counts` in the form of shareTitle; `sizes` in bytes, null for folders; `all` is the URL of
       * the recipient's list of shares.
       */
      values: {
        files: string[]
        links: string[]
        expires: string | null
        protected: boolean
      } & Sender & {
          counts?: (number | null)[]
          sizes?: (number | null)[]
          message?: string
          all?: string
        }
    })
  | {
      template: 'sign-in'
      to: string
      values: { device: string; address: string; at: string; link: string }
    }
  | { template: 'webhook-disabled'; to: string; values: { host: string; since: string } }
  | {
      template: 'files-received'
      to: string
      values: { label: string; files: number; bytes: number; link: string }
    }
  | {
      template: 'share-used'
      to: string
      /** `count` in the form of shareTitle. */
      values: {
        name: string
        count?: number | null
        opened: number
        downloaded: number
        link: string
      }
    }
  | {
      template: 'over-quota'
      to: string
      /** `workspace` is null for a personal drive. Sizes are in bytes; null means no limit. */
      values: {
        workspace: string | null
        usedBytes: number
        usedFiles: number
        usedFolders: number
        maxBytes: number
        maxFiles: number | null
        maxFolders: number | null
        link: string
      }
    }
  | { template: 'address-changed'; to: string; values: { provider: string | null } }
  | {
      template: 'account-link'
      to: string
      values: { about: 'invite' | 'sign-up' | 'known' | 'reset' | 'address'; link: string }
    }
  | { template: 'account-notice'; to: string; values: { what: AccountNotice; link: string } }

/** Sends a mail. */
export const mailJob: Job<
  'mail',
  Mail,
  {
    mailings: {
      isWanted(mail: Mail): Promise<boolean>
      languageOf(mail: Mail): Promise<Language>
    }
    mailer: { send(mail: Mail, as: { id: string; language: Language }): Promise<void> }
  }
> = {
  kind: 'mail',
  changesFiles: false,
  atATime: USUAL_AT_A_TIME,
  // As long as mail servers retry: RFC 5321, 4.5.4.1.
  patienceMs: 5 * DAY_MS,
  leastTries: 1,
  async run({ mailings, mailer }, mail, { id }) {
    if (!(await mailings.isWanted(mail))) return
    await mailer.send(mail, { id, language: await mailings.languageOf(mail) })
  },
}
