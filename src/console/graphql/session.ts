let leaving = false

/** Leads to sign-in and back to the same place: the session has ended. */
export function signInAgain(): void {
  if (leaving) return
  leaving = true
  const here = location.pathname + location.search
  location.assign(`/login?${new URLSearchParams({ return_to: here })}`)
}

/** Does what ends the session itself, and leaves for another page. What finds out meanwhile that it has ended does not lead to sign-in. */
export async function leaveAfter(work: () => Promise<unknown>, url: string): Promise<void> {
  leaving = true
  try {
    await work()
  } catch (error) {
    leaving = false
    throw error
  }
  location.assign(url)
}

/** Ends the session, by the form that the pages without a script use. */
export function signOut(): void {
  localStorage.removeItem('satchel.recent')
  const form = document.createElement('form')
  form.method = 'post'
  form.action = '/logout'
  document.body.append(form)
  form.submit()
}
