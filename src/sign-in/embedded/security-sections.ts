import type { LoginRow } from '../../../db/queries/login.ts'
import type { Caller } from '../../access/caller.ts'
import type { PageDeps } from './page-deps.ts'
import { dayIn, emailField, newPasswordField, type Visit } from './page-kit.ts'
import { passkeyChallenges } from './passkey-challenge.ts'
import type { Section } from './views.ts'

/** Makes the sections of the page about the sign-in methods of a person. */
export function securitySections({ services, tokens }: PageDeps) {
  const { logins, passkeys, secondFactors } = services
  const challenges = passkeyChallenges(tokens)

  async function passkeySection(visit: Visit, caller: Caller, login: LoginRow): Promise<Section> {
    const { say, language } = visit
    const rows = await passkeys.list(login.id)
    const isOffered = passkeys.isOffered()
    const own = passkeys.newChallenge()
    const options = isOffered ? JSON.stringify(await passkeys.addOptions(login, own)) : ''
    return {
      id: 'passkeys',
      heading: say('passkeys'),
      lead: [
        say(isOffered ? 'passkeys_hint' : 'no_passkeys'),
        ...(rows.length === 0 ? [say('no_passkey_yet')] : []),
      ],
      rows: rows.map(({ id, name, createdAt, lastUsedAt }) => ({
        id,
        title: name || 'Passkey',
        text: [
          say('added_on', { day: dayIn(language, createdAt) }),
          lastUsedAt === null
            ? say('never_used')
            : say('used_on', { day: dayIn(language, lastUsedAt) }),
        ].join(', '),
        buttons: [{ do: 'remove-passkey', label: say('remove') }],
      })),
      forms: isOffered
        ? [
            {
              do: 'add-passkey',
              label: say('add_passkey'),
              hidden: [
                ['passkey', ''],
                ['challenge', challenges.seal(caller, own)],
              ],
              fields: [
                {
                  name: 'name',
                  label: say('passkey_name'),
                  type: 'text',
                  autocomplete: 'off',
                  maxlength: 100,
                },
              ],
              passkey: { kind: 'create', options, label: say('add_passkey') },
            },
          ]
        : [],
    }
  }

  async function factorSection({ say }: Visit, login: LoginRow): Promise<Section> {
    const isOn = login.totp !== null
    const count = isOn ? await secondFactors.codesLeft(login.id) : 0
    const button = (what: string, label: string) => ({ do: what, label, hidden: [], fields: [] })
    return {
      id: 'factor',
      heading: say('factor'),
      lead: [isOn ? say('factor_on', { count }) : say('factor_off')],
      rows: [],
      forms: isOn
        ? [button('new-codes', say('new_codes')), button('factor-off', say('turn_off'))]
        : [button('factor-setup', say('turn_on'))],
    }
  }

  const passwordSection = ({ say }: Visit, caller: Caller, login?: LoginRow): Section => ({
    id: 'password',
    heading: say(login?.password ? 'change_password' : 'set_password'),
    lead: [say('change_password_hint')],
    rows: [],
    forms: [
      {
        do: 'password',
        label: say('save'),
        hidden: [['username', login?.email ?? caller.email]],
        fields: [newPasswordField(say)],
      },
    ],
  })

  const addressSection = ({ say }: Visit): Section => ({
    id: 'address',
    heading: say('change_address'),
    lead: [say('change_address_hint')],
    rows: [],
    forms: [
      {
        do: 'address',
        label: say('continue'),
        hidden: [],
        fields: [{ ...emailField(say), label: say('new_email'), autocomplete: 'email' }],
      },
    ],
  })

  const signOutSection = ({ say }: Visit): Section => ({
    id: 'sessions',
    heading: say('sign_out_all'),
    lead: [],
    rows: [],
    forms: [{ do: 'sign-out', label: say('sign_out_all'), hidden: [], fields: [] }],
  })

  /** @param login the credentials of the account's own, if there are any */
  return async (visit: Visit, caller: Caller, login?: LoginRow): Promise<Section[]> => [
    ...(login ? [await passkeySection(visit, caller, login)] : []),
    ...(logins.hasPasswords && (login || caller.verifiedEmail !== null)
      ? [passwordSection(visit, caller, login)]
      : []),
    ...(login?.password ? [await factorSection(visit, login)] : []),
    ...(login && logins.hasMail ? [addressSection(visit)] : []),
    signOutSection(visit),
  ]
}
