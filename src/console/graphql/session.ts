let leaving = false

/** Leads to sign-in and back to the same place: the session has ended. */
export function signInAgain(): void {
  if (leaving) return
  leaving = true
  const here = location.pathname + location.search
  location.assign(`/login?${new URLSearchParams({ return_to: here })}`)
}

/** Ends the session, by the form that the pages without a script use. */
export function signOut(): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = '/logout'
  document.body.append(form)
  form.submit()
}
