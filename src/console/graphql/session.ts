import { ofBrowser } from '../parts/memory.ts'

let leaving = false
/** Whether the person only has to sign in again, and drafts wait for that. */
let expired = false

/** The id of the person for whom the service rendered this page. */
export const person = document.querySelector<HTMLMetaElement>('meta[name="person"]')?.content

/** Whether the session of this page is ending. Nothing may be stored any more. */
export const isLeaving = (): boolean => leaving

/** Whether the session is ending for good, so that not even drafts may be stored any more. */
export const isForgetting = (): boolean => leaving && !expired

/**
 * Deletes the person's data from this browser. Files of the console stay
 * (worker/service-worker.ts).
 *
 * @param waiting keeps files that were shared with the console, and drafts of texts: they wait for
 * the person to sign in again
 */
export async function forget({ waiting = false } = {}): Promise<void> {
  ofBrowser.remove('satchel.recent')
  // Drafts wait for the person, like files.
  if (!waiting) indexedDB.deleteDatabase('satchel-drafts')
  // Caches exist only on secure origins.
  if (!('caches' in window)) return
  // If the browser blocks storage, there is nothing to delete.
  for (const name of await caches.keys().catch(() => []))
    if (!name.startsWith('console-') && !(waiting && name === 'arrived')) await caches.delete(name)
}

/** The session has expired: opens the sign-in page, which leads back here. */
export function signInAgain(): void {
  if (leaving) return
  leaving = true
  expired = true
  const here = location.pathname + location.search
  void forget({ waiting: true }).finally(() =>
    location.assign(`/login?${new URLSearchParams({ return_to: here })}`),
  )
}

/**
 * The service worker reports which account is signed in. Pages of another account go to sign-in.
 */
export function followSignIn(): void {
  navigator.serviceWorker?.addEventListener('message', ({ data }) => {
    if (data?.signedIn !== undefined && data.signedIn !== person) signInAgain()
  })
}

/**
 * Runs work that ends the session, then opens the page that it returns. Requests that fail
 * meanwhile do not lead to sign-in.
 */
export async function leaveAfter(work: () => Promise<string>): Promise<void> {
  leaving = true
  expired = false
  let url = '/'
  try {
    url = await work()
  } catch (error) {
    leaving = false
    throw error
  }
  await forget().catch(() => {})
  location.assign(url)
}

/** Signs out through the same form as pages without scripts. */
export function signOut(): void {
  leaving = true
  expired = false
  const form = document.createElement('form')
  form.method = 'post'
  form.action = '/logout'
  document.body.append(form)
  void forget().finally(() => form.submit())
}
