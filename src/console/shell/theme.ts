import { ofBrowser } from '../parts/memory.ts'

const KEY = 'satchel.theme'
export type Theme = 'light' | 'dark' | 'system'

/** The theme chosen for this browser. */
export function chosenTheme(): Theme {
  const chosen = ofBrowser.read(KEY)
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

function show(theme: Theme): void {
  const root = document.documentElement
  if (theme === 'system') delete root.dataset.theme
  else root.dataset.theme = theme
}

show(chosenTheme())

/** Sets the theme for this browser. */
export function chooseTheme(theme: Theme): void {
  ofBrowser.write(KEY, theme)
  show(theme)
}
