import { useRouter } from '@tanstack/react-router'
import { Braces, Languages, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { signOut } from '../graphql/session.ts'
import { chooseLanguage, language } from '../i18n/language.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Menu, type MenuEntry } from '../parts/menu.tsx'
import type { Me } from './me.ts'
import { text } from './text.ts'
import { chooseTheme } from './theme.ts'

/** Who is signed in, and what concerns them. */
export function AccountMenu({ me }: { me: Me }) {
  const { routesByPath, navigate } = useRouter()
  const account: MenuEntry[] =
    '/account' in routesByPath
      ? [
          { id: 'account', label: text('account'), icon: UserRound, run: () => void navigate({ href: '/account' }) },
          'separator',
        ]
      : []
  return (
    <Menu
      label={text('accountMenu')}
      button={{ look: 'icon' }}
      header={
        <div className="menu-person">
          <strong dir="auto">{me.name || me.email}</strong>
          <span dir="auto">{me.email}</span>
        </div>
      }
      entries={[
        ...account,
        { id: 'light', label: text('themeLight'), icon: Sun, run: () => chooseTheme('light') },
        { id: 'dark', label: text('themeDark'), icon: Moon, run: () => chooseTheme('dark') },
        { id: 'system', label: text('themeSystem'), icon: Monitor, run: () => chooseTheme('system') },
        'separator',
        {
          id: 'language',
          label: text('language'),
          icon: Languages,
          run: () => chooseLanguage(language === 'de' ? 'en' : 'de'),
        },
        { id: 'api', label: text('apiDocs'), icon: Braces, run: () => location.assign('/api/docs') },
        'separator',
        { id: 'out', label: text('signOut'), icon: LogOut, run: signOut },
      ]}
    >
      <Avatar name={me.name} email={me.email} />
    </Menu>
  )
}
