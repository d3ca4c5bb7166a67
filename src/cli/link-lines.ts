import { plain } from './text.ts'

/** Links for people, one a line, each with its QR code where that is wanted. */
export async function linkLines(links: string[], withCodes: boolean | undefined): Promise<string> {
  const qrLines = withCodes ? (await import('./qr.ts')).qrLines : () => []
  return links.flatMap(link => [plain(link), ...qrLines(link)]).join('\n')
}
