import { useNavigate } from '@tanstack/react-router'
import { signOut } from '../graphql/session.ts'
import { chooseLanguage, language } from '../i18n/language.ts'
import { operatorPages } from '../parts/brand.ts'
import {
  Braces,
  CircleQuestionMark,
  Landmark,
  Languages,
  LogOut,
  Monitor,
  Moon,
  ShieldCheck,
  Smartphone,
  Sun,
  UserRound,
} from '../parts/icons.ts'
import type { MenuEntry } from '../parts/menu.tsx'
import { text } from './text.ts'
import { chooseTheme, chosenTheme } from './theme.ts'

const themes = [
  ['light', text('themeLight'), Sun],
  ['dark', text('themeDark'), Moon],
  ['system', text('themeSystem'), Monitor],
] as const

const icons = { help: CircleQuestionMark, imprint: Landmark, privacy: ShieldCheck }

/** Menu entries for the account and the appearance of the console. */
export function useAccountEntries(): MenuEntry[] {
  const navigate = useNavigate()
  const pages = operatorPages()
  const ofOperator = (['help', 'imprint', 'privacy'] as const).flatMap(id =>
    pages[id]
      ? {
          id,
          label: text(id),
          icon: icons[id],
          run: () => void window.open(pages[id], '_blank', 'noopener'),
        }
      : [],
  )
  return [
    {
      id: 'account',
      label: text('account'),
      icon: UserRound,
      run: () => void navigate({ to: '/account' }),
    },
    {
      id: 'connect',
      label: text('connect'),
      icon: Smartphone,
      run: () => void navigate({ to: '/connect' }),
    },
    'separator',
    ...themes.map(([id, label, icon]) => ({
      id,
      label,
      icon,
      isChosen: id === chosenTheme(),
      run: () => chooseTheme(id),
    })),
    'separator',
    {
      id: 'language',
      label: text('language'),
      icon: Languages,
      run: () => chooseLanguage(language === 'de' ? 'en' : 'de'),
    },
    {
      id: 'developers',
      label: text('developers'),
      icon: Braces,
      run: () => void navigate({ href: '/developers' }),
    },
    ...(ofOperator.length > 0 ? ['separator' as const, ...ofOperator] : []),
    'separator',
    { id: 'out', label: text('signOut'), icon: LogOut, run: signOut },
  ]
}
