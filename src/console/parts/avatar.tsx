/** A person's initial in a colour derived from the email address. No external image is loaded. */
export function Avatar({ name, email }: { name: string; email: string }) {
  const hue = [...email].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)
  return (
    <span className="avatar" style={{ '--hue': hue } as React.CSSProperties} aria-hidden>
      {([...(name || email)][0] ?? '?').toUpperCase()}
    </span>
  )
}
