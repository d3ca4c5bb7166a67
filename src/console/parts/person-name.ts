/** Display name of a person: the name, or the email address without one. */
export const personName = ({ name, email }: { name: string; email: string }): string =>
  name || email
