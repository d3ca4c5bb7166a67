import { sessionSecret } from '../access/credential.ts'
import type { SessionService } from '../services/accounts/session.ts'
import { signOut } from '../sign-in/sign-out.ts'
import { leadingTo, nextOf, page, type Reply, signInAt, type Visit } from './visit.ts'

/** Provider names that are more than a capitalised id. */
const spellings = new Map([
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['linkedin', 'LinkedIn'],
  ['oidc', 'OpenID Connect'],
  ['sso', 'single sign-on'],
])

/** Display name of a provider. */
export function nameOfProvider(provider: string): string {
  if (provider === 'local') return 'this computer'
  if (provider === 'accounts') return 'e-mail address and password'
  return (
    spellings.get(provider) ??
    provider.replaceAll('-', ' ').replace(/^./, first => first.toUpperCase())
  )
}

const labelOf = (provider: string): string =>
  `Continue ${provider === 'local' ? 'on' : 'with'} ${nameOfProvider(provider)}`

/** Descriptions of the page after sign-in, by URL prefix. */
const goals: [beginning: string, goal: string][] = [
  ['/share/', 'You are on your way to a file that was shared with you.'],
  ['/invite/', 'You are on your way to an invite.'],
  ['/authorize', 'You are on your way to a program that asks for access to your files.'],
  ['/device', 'You are on your way to a program that asks for access to your files.'],
  ['/graphql', 'You are on your way to GraphiQL.'],
  ['/api/docs', 'You are on your way to the REST interface.'],
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
    const data = {
      next,
      goal: goals.find(([beginning]) => next.startsWith(beginning))?.[1] ?? '',
      providers: providers.map(provider => ({
        label: labelOf(provider),
        href: `/auth/oauth?${new URLSearchParams({ provider, return_to: next })}`,
      })),
    }
    return page('login', data, { title: caller ? 'You are signed in' : 'Sign in', caller })
  }
}

/** `/logout/confirm`: asks first, because a page of another site may have led here. */
export async function askLogout(visit: Visit): Promise<Reply> {
  const caller = await visit.caller()
  return caller ? page('logout', {}, { title: 'Log out?', caller }) : { to: '/' }
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
