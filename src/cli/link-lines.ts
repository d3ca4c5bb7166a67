import { plain } from './text.ts'

/** Links for people, one per line, optionally with QR codes. */
export async function linkLines(links: string[], withCodes: boolean | undefined): Promise<string> {
  const qrLines = withCodes ? (await import('./qr.ts')).qrLines : () => []
  return links.flatMap(link => [plain(link), ...qrLines(link)]).join('\n')
}
