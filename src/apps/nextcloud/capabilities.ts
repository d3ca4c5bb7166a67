import type { Config } from '../../config/config.ts'
import type { ShownBrand } from '../../http/brand.ts'
import { DAY_MS, parseDuration } from '../../values/duration.ts'
import type { OcsValue } from './ocs.ts'

/**
 * The version of the protocol, as clients compare it. It is the oldest whose clients are still
 * maintained, so that they do not ask for what came later.
 */
export const VERSION = { major: 28, minor: 0, micro: 0, string: '28.0.0' } as const

/** The answer at /status.php. Clients pause during maintenance. */
export const status = (isPaused: boolean, { name }: ShownBrand) => ({
  installed: true,
  maintenance: isPaused,
  needsDbUpgrade: false,
  version: `${VERSION.string}.0`,
  versionstring: VERSION.string,
  edition: '',
  productname: name,
  extendedSupport: false,
})

export type Rules = Pick<Config, 'shareMaxDuration' | 'sharePassword'>

/**
 * The expiry that links must have. Clients count whole days from their own date, which may be one
 * after the date in UTC, and end with the last of them.
 */
function expiryOf({ shareMaxDuration }: Rules): OcsValue {
  if (shareMaxDuration === '') return { enabled: false }
  const days = Math.floor(parseDuration(shareMaxDuration) / DAY_MS) - 2
  return days < 1 ? { enabled: false } : { enabled: true, days, enforced: true }
}

/** What clients may use. They hide what is missing here. */
export const capabilities = (
  publicUrl: string,
  { name, logo, colours }: ShownBrand,
  rules: Rules,
): OcsValue => ({
  version: { ...VERSION, edition: '', extendedSupport: false },
  capabilities: {
    core: {
      pollinterval: 60,
      'webdav-root': 'remote.php/webdav',
      'mod-rewrite-working': false,
    },
    // Chunks that arrive in parallel are kept apart by their numbers.
    dav: { chunking: '1.0' },
    files: {
      bigfilechunking: true,
      undelete: true,
      versioning: true,
      forbidden_filename_characters: ['\\', '/'],
      blacklisted_files: [],
    },
    checksums: { supportedTypes: ['SHA1', 'MD5'], preferredUploadType: 'SHA1' },
    files_sharing: {
      api_enabled: true,
      // What a share may do if the app does not say it: view.
      default_permissions: 1,
      resharing: false,
      group_sharing: false,
      public: {
        enabled: true,
        password: { enforced: rules.sharePassword, askForOptionalPassword: false },
        // Satchel sets an end if the app gives none.
        expire_date: expiryOf(rules),
        upload: false,
        upload_files_drop: false,
        multiple_links: true,
        send_mail: false,
      },
      user: { send_mail: false, expire_date: { enabled: true } },
      sharebymail: { enabled: false },
    },
    theming: {
      name,
      url: publicUrl,
      slogan: '',
      color: colours.light.accent,
      'color-text': colours.light.on,
      'color-element': colours.light.accent,
      logo: `${publicUrl}${logo ?? '/favicon.svg'}`,
      background: colours.light.accent,
      'background-plain': true,
      'background-default': true,
    },
  },
})
