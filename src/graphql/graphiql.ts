import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { icon } from '../http/icon.ts'
import { makeStatic, type StaticAnswer, sendStatic } from '../http/static.ts'

/**
 * GraphiQL in one self-contained page, the same for everyone. It requests data like any client.
 * @param hasConsole whether the service has a screen for developers
 */
export function createGraphiqlPage(hasConsole: boolean) {
  let made: Promise<StaticAnswer> | undefined

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    made ??= makePage(hasConsole)
    sendStatic(req, res, await made)
  }
}

/**
 * Loaded on the first visit, because it takes a tenth of a second and 50 MB that a service for
 * programs alone never needs. Cached plain (9 MB) and compressed (a quarter of that). All
 * connections read from these two buffers.
 */
async function makePage(hasConsole: boolean): Promise<StaticAnswer> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  // The library inserts both as markup, and the title also where no markup is allowed.
  const look = {
    title: hasConsole
      ? '<a href="/developers" style="color: inherit">For developers</a>'
      : 'Satchel',
    logo: `<a href="/" aria-label="Satchel">${icon}</a>`,
    favicon: `data:image/svg+xml,${encodeURIComponent(icon)}`,
  }
  const rendered = String(
    await renderGraphiQL({ ...look, endpoint: '/graphql', defaultQuery: welcome }),
  )
  const html = rendered.replace(/<title>.*?<\/title>/, '<title>GraphQL · Satchel</title>')
  const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(
    ([, script = '']) => `'sha256-${hash(script)}'`,
  )
  const policy = [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    'worker-src blob:',
    "connect-src 'self'",
    // The editor adds inline colours and positions while it runs.
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  return makeStatic(html, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'cache-control': 'no-cache',
    vary: 'Accept, Accept-Encoding',
    etag: `W/"${hash(html)}"`,
  })
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64')

const welcome = `# Your files, and the people with whom you share them.
# Sign in first: /auth/oauth?return_to=/graphql

query Home {
  me {
    email
    plan { name }
    drive {
      usage { usedBytes maxBytes }
      root { entries(first: 10) { nodes { __typename name size } } }
    }
    workspaces(first: 10) { nodes { name role } }
  }
}

# In a tab of its own, this reports every change of your files:
# subscription { driveChanged { usage { usedBytes fileCount } } }
`
