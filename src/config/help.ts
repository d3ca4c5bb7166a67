import { providerField } from './provider-setting.ts'
import { settings } from './settings.ts'

/** Every setting with its meaning and default, for `--help` and for docs/operate.md. */
export function settingRows(): { name: string; help: string; fallback: string }[] {
  const rows: { name: string; help: string; fallback: string }[] = Object.entries(settings).map(([name, s]) => ({
    name,
    help: s.help,
    fallback: ('shown' in s && s.shown) || s.default || 'none',
  }))
  for (const field of Object.keys(providerField)) {
    rows.push({
      name: `OAUTH_<NAME>_${field}`,
      help:
        field === 'SCOPES'
          ? 'scopes requested from the provider'
          : `${field.toLowerCase().replaceAll('_', ' ').replace('url', 'URL')} of the OAuth 2 provider <NAME>`,
      fallback: field === 'SCOPES' ? 'openid email profile' : 'the embedded sign-in provider',
    })
  }
  return rows
}

/** The text that `--help` prints. */
export function describeSettings(): string {
  return settingRows()
    .map(r => `  ${r.name}\n      ${r.help}\n      default: ${r.fallback}`)
    .join('\n')
}
