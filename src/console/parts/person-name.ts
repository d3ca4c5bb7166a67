/** What a person is called: their name, or their address where they have given none. */
export const personName = ({ name, email }: { name: string; email: string }): string =>
  name || email
