import { logIdentityRemoved, logSecurityEvent } from '../access/audit-log.ts'
import { isFromOwnPage } from '../access/origin.ts'
import { Forbidden, InvalidInput } from '../runtime/errors.ts'
import type { Tokens } from '../runtime/tokens.ts'
import { SignInRefused } from '../services/accounts/account.ts'
import type { Services } from '../services/index.ts'
import { createLinking, LINKING_PATH } from '../sign-in/linking.ts'
import { nameOfProvider } from './login.ts'
import { page, proveFirst, type Reply, readForm, signInAt, type Visit } from './visit.ts'

interface Options {
  services: Services
  tokens: Tokens
  providers: string[]
  publicUrl: () => string
  secure: boolean
}

/**
 * `/identities`: the sign-in methods of an account. A form adds methods. All but the last can be
 * removed.
 */
export function identityPages({ services, tokens, providers, publicUrl, secure }: Options) {
  const linking = createLinking({ tokens, secure })
  const back = (error?: string): Reply => ({
    to: error ? `${LINKING_PATH}?${new URLSearchParams({ error })}` : LINKING_PATH,
    headers: { 'set-cookie': linking.done() },
  })

  /**
   * @throws FORBIDDEN unless the browser confirms that the form comes from a page of this service
   */
  function requireOwnPage(visit: Visit): void {
    if (!isFromOwnPage(visit.req, publicUrl()))
      throw new Forbidden('Send this form from the page of this service.')
  }

  return {
    async show(visit: Visit): Promise<Reply> {
      const caller = await visit.caller()
      if (!caller) return { to: signInAt(LINKING_PATH) }
      const identities = await services.users.identities(caller)
      const link = linking.wishOf(caller)
      const data = {
        identities: identities.map(({ id, provider, name, email, emailVerified, createdAt }) => ({
          id,
          provider: nameOfProvider(provider, visit.words),
          person: { name, email },
          emailVerified,
          since: visit.words.momentOf(createdAt),
        })),
        add: providers.map(provider => ({
          label: visit.words.say('addProvider', {
            provider: nameOfProvider(provider, visit.words),
          }),
          href: `/auth/oauth?${new URLSearchParams({ provider, link, return_to: LINKING_PATH })}`,
        })),
      }
      return page('identities', data, { title: visit.words.say('waysToSignIn'), caller })
    },

    async remove(visit: Visit): Promise<Reply> {
      requireOwnPage(visit)
      const caller = await visit.caller()
      if (!caller) return { to: signInAt(LINKING_PATH) }
      const id = (await readForm(visit)).get('identity_id')
      if (!id) throw new InvalidInput('identity_id', 'Choose an identity.')
      try {
        const workspaces = await services.identities.remove(caller, id)
        logIdentityRemoved({ log: visit.log, caller }, { identity: id, workspaces })
      } catch (error) {
        return proveFirst(error, LINKING_PATH)
      }
      return back()
    },

    async ask(visit: Visit): Promise<Reply> {
      const caller = await visit.caller()
      const profile = caller && linking.offered(caller, visit.req)
      if (!profile) return back('invalid_state')
      const data = {
        provider: nameOfProvider(profile.provider, visit.words),
        person: { name: profile.name, email: profile.email },
      }
      return page('link', data, { title: visit.words.say('linkTitle'), caller })
    },

    async confirm(visit: Visit): Promise<Reply> {
      requireOwnPage(visit)
      const caller = await visit.caller()
      const profile = caller && linking.offered(caller, visit.req)
      if (!caller || !profile) return back('invalid_state')
      try {
        await services.identities.add(caller, profile)
      } catch (error) {
        if (error instanceof SignInRefused) return back(error.reason)
        return proveFirst(error, `${LINKING_PATH}/confirm`)
      }
      logSecurityEvent({ log: visit.log, caller }, 'identity_added', { provider: profile.provider })
      return back()
    },
  }
}
