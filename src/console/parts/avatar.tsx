/**
 * A person's first letter, in a colour that is always the same for the same address. No foreign
 * picture is loaded.
 */
export function Avatar({ name, email }: { name: string; email: string }) {
  const hue = [...email].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)
  return (
    <span className="avatar" style={{ '--hue': hue } as React.CSSProperties} aria-hidden>
      {([...(name || email)][0] ?? '?').toUpperCase()}
    </span>
  )
}
