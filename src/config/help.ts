import { providerField } from './provider-setting.ts'
import { settings } from './settings.ts'
import { MOVE_FROM } from './store-settings.ts'

const fallbacks: Partial<Record<string, string>> = {
  CLIENT_ID: 'the embedded sign-in provider',
  CLIENT_SECRET: 'the embedded sign-in provider',
  ISSUER: 'known for GITLAB, GOOGLE and MICROSOFT; GITHUB needs none',
  SCOPES: 'openid email profile; for GITHUB read:user user:email',
  SIGN_OUT: 'false',
  TENANT: 'common',
  HOST: 'github.com or gitlab.com',
}

/** Every setting with its meaning and default, for `--help` and for docs/operate.md. */
export function settingRows(): { name: string; help: string; fallback: string }[] {
  const rows: { name: string; help: string; fallback: string }[] = Object.entries(settings).map(
    ([name, s]) => ({
      name,
      help: s.help,
      fallback: ('shown' in s && s.shown) || s.default || 'none',
    }),
  )
  rows.push({
    name: `${MOVE_FROM}<NAME>`,
    help: 'settings of the old store when blobs are moved while the service runs (npm run admin -- move-blobs), such as MOVE_FROM_BLOB_DIR or MOVE_FROM_S3_BUCKET; the settings without the prefix are those of the new store',
    fallback: 'none',
  })
  for (const [field, { help }] of Object.entries(providerField))
    rows.push({ name: `OAUTH_<NAME>_${field}`, help, fallback: fallbacks[field] ?? 'none' })
  return rows
}

/** The text that `--help` prints. */
export function describeSettings(): string {
  return settingRows()
    .map(r => `  ${r.name}\n      ${r.help}\n      default: ${r.fallback}`)
    .join('\n')
}
