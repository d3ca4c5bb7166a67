const KEY = 'satchel.theme'
export type Theme = 'light' | 'dark' | 'system'

function show(theme: string | null): void {
  const root = document.documentElement
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
  else delete root.dataset.theme
}

show(localStorage.getItem(KEY))

/** Chooses the colours for this browser. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  show(theme)
}
