import { decodeAs } from './code-page.ts'
import { decode } from './decode.ts'

const LINE =
  /^([A-Z][\w.-]*(?:;[^:\n]*)?;ENCODING=QUOTED-PRINTABLE[^:\n]*|[A-Z][\w.-]*;QUOTED-PRINTABLE[^:\n]*):((?:[^\n]*=\r?\n)*[^\n]*)/gim

/** The text of a vCard or vCalendar file, in whose earlier versions values are quoted-printable. */
export function textOfCard(bytes: Uint8Array): string {
  return decode(bytes)
    .replace(/\r?\n[ \t]/g, '')
    .replace(LINE, (_, head: string, value: string) => {
      const charset = /CHARSET=([\w-]{1,40})/i.exec(head)?.[1] ?? 'utf-8'
      const codes = [...value.replace(/=\r?\n/g, '').matchAll(/=([0-9a-f]{2})|([\s\S])/gi)]
      const isAscii = codes.every(([, , plain]) => plain === undefined || plain <= '\u007f')
      if (!isAscii) return `${head}:${value}`
      const quoted = Uint8Array.from(codes, ([, hex, plain = '']) =>
        hex === undefined ? plain.charCodeAt(0) : Number.parseInt(hex, 16),
      )
      return `${head}:${decodeAs(quoted, charset) ?? decode(quoted)}`
    })
}
