import { makeCa } from './private-ca.ts'
import { startServiceProcess } from './service-process.ts'
import { startTlsFront } from './tls-front.ts'

/**
 * Uploads a file to a service that reaches its store over TLS.
 * @param port of the store without TLS
 * @param settingsAt the settings for the store at the port with TLS
 * @returns "stored" or the error: with CA_FILE, and without it
 */
export async function outcomesBehindTls(
  port: number,
  settingsAt: (port: number) => Record<string, string>,
): Promise<{ withCa: string; without: string }> {
  const ca = makeCa()
  const front = await startTlsFront(ca.issue('store', ['DNS:localhost', 'IP:127.0.0.1']), port)
  const outcome = async (more: Record<string, string>) => {
    const service = await startServiceProcess({ ...settingsAt(front.port), ...more })
    try {
      const [alice] = await service.signIn('alice')
      const { status } = (await alice?.upload('a.txt', 'a')) ?? {}
      return status === 200 ? 'stored' : service.said()
    } finally {
      await service.stop()
    }
  }
  try {
    return {
      withCa: await outcome({ CA_FILE: ca.file }),
      without: await outcome({}).catch(String),
    }
  } finally {
    front.stop()
    ca.remove()
  }
}
