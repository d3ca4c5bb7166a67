import { sessionSecret } from '../access/credential.ts'
import type { SessionService } from '../services/accounts/session.ts'
import { signOut } from '../sign-in/sign-out.ts'
import type { TextKey } from './text.ts'
import { leadingTo, nextOf, page, type Reply, signInAt, type Visit } from './visit.ts'
import type { Words } from './words.ts'

/** Provider names that are more than a capitalised id. */
const spellings = new Map([
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['linkedin', 'LinkedIn'],
  ['oidc', 'OpenID Connect'],
])

/** Display name of a provider. */
export function nameOfProvider(provider: string, { say }: Pick<Words, 'say'>): string {
  if (provider === 'local') return say('thisComputer')
  if (provider === 'accounts') return say('ownAccounts')
  if (provider === 'sso') return say('singleSignOn')
  return (
    spellings.get(provider) ??
    provider.replaceAll('-', ' ').replace(/^./, first => first.toUpperCase())
  )
}

const labelOf = (provider: string, words: Words): string =>
  provider === 'local'
    ? words.say('continueHere')
    : words.say('continueWith', { provider: nameOfProvider(provider, words) })

/** Descriptions of the page after sign-in, by URL prefix. */
const goals: [beginning: string, goal: TextKey][] = [
  ['/share/', 'goalShare'],
  ['/invite/', 'goalInvite'],
  ['/authorize', 'goalProgram'],
  ['/device', 'goalProgram'],
  ['/graphql', 'goalGraphiql'],
  ['/api/docs', 'goalRest'],
]

/** `/login`: lists the providers, or shows who is already signed in. */
export function loginPage(providers: string[]) {
  return async (visit: Visit): Promise<Reply> => {
    const next = nextOf(visit.query)
    const caller = await visit.caller()
    // With nothing to choose, the sign-in page of the built-in accounts asks for everything.
    if (
      !caller &&
      providers.length === 1 &&
      providers[0] === 'accounts' &&
      !visit.query.has('error')
    )
      return { to: `/auth/oauth?${new URLSearchParams({ return_to: next })}` }
    const goal = goals.find(([beginning]) => next.startsWith(beginning))?.[1]
    const data = {
      next,
      goal: goal ? visit.words.say(goal) : '',
      providers: providers.map(provider => ({
        label: labelOf(provider, visit.words),
        href: `/auth/oauth?${new URLSearchParams({ provider, return_to: next })}`,
      })),
    }
    return page('login', data, { title: visit.words.say(caller ? 'loginDone' : 'signIn'), caller })
  }
}

/** `/logout/confirm`: asks first, because a page of another site may have led here. */
export async function askLogout(visit: Visit): Promise<Reply> {
  const caller = await visit.caller()
  return caller
    ? page('logout', {}, { title: visit.words.say('logoutTitle'), caller })
    : { to: '/' }
}

/**
 * `/logout`: ends the session, for forms; programs use /auth/logout. With a return path, it
 * continues with a new sign-in.
 */
export function logout(options: { sessions: SessionService; secure: boolean }) {
  return async (visit: Visit): Promise<Reply> => {
    const { req, res, log } = visit
    const goOn = await signOut(sessionSecret(req), { res, log, mayGoOn: true }, options)
    const next = nextOf(visit.query)
    const to = next === '/' ? '/' : signInAt(next)
    return { to: goOn ? leadingTo(to, goOn) : to }
  }
}
