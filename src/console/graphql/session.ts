import { ofBrowser } from '../parts/memory.ts'

let leaving = false

/** For whom the service has made this page. */
export const person = document.querySelector<HTMLMetaElement>('meta[name="person"]')?.content

/** Whether the session of this page is over: nothing of it may be kept. */
export const isLeaving = (): boolean => leaving

/**
 * Takes what belongs to the person from this browser; the files of the console stay
 * (worker/service-worker.ts).
 * @param waiting what was shared with the console, and waits for the person to sign in again, stays
 * too
 */
export async function forget({ waiting = false } = {}): Promise<void> {
  ofBrowser.remove('satchel.recent')
  // Only secure pages have caches.
  if (!('caches' in window)) return
  // Where the browser stores nothing, nothing is there to be taken.
  for (const name of await caches.keys().catch(() => []))
    if (!name.startsWith('console-') && !(waiting && name === 'arrived')) await caches.delete(name)
}

/** Leads to sign-in and back to the same place: the session has ended. */
export function signInAgain(): void {
  if (leaving) return
  leaving = true
  const here = location.pathname + location.search
  void forget({ waiting: true }).finally(() =>
    location.assign(`/login?${new URLSearchParams({ return_to: here })}`),
  )
}

/**
 * The worker has seen who is signed in in this browser now: a page of another account is closed.
 */
export function followSignIn(): void {
  navigator.serviceWorker?.addEventListener('message', ({ data }) => {
    if (data?.signedIn !== undefined && data.signedIn !== person) signInAgain()
  })
}

/**
 * Does what ends the session itself, and leaves for another page. What finds out meanwhile that it
 * has ended does not lead to sign-in.
 */
export async function leaveAfter(work: () => Promise<unknown>, url: string): Promise<void> {
  leaving = true
  try {
    await work()
  } catch (error) {
    leaving = false
    throw error
  }
  await forget().catch(() => {})
  location.assign(url)
}

/** Ends the session, by the form that the pages without a script use. */
export function signOut(): void {
  leaving = true
  const form = document.createElement('form')
  form.method = 'post'
  form.action = '/logout'
  document.body.append(form)
  void forget().finally(() => form.submit())
}
