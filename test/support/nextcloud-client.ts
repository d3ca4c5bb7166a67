import { expect } from '@jest/globals'
import type { TestApp } from './harness.ts'

interface Options {
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Another Authorization header; null for none. */
  as?: string | null
}

const asked = [
  '<d:resourcetype/><d:getlastmodified/><d:getcontentlength/><d:getetag/><oc:size/><oc:id/>',
  '<oc:fileid/><oc:permissions/><oc:checksums/><oc:favorite/><nc:has-preview/><oc:share-types/>',
  '<nc:trashbin-filename/><nc:trashbin-original-location/><nc:trashbin-deletion-time/>',
].join('')
const NAMESPACES =
  'xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"'

/** The properties that apps ask for, as an element of a body. */
export const PROP = `<d:prop>${asked}</d:prop>`

/** A body with the namespaces of the apps. */
export const bodyOf = (name: string, content: string): string =>
  `<?xml version="1.0"?><${name} ${NAMESPACES}>${content}</${name}>`

/** The entries of a multistatus. */
export const entriesIn = (text: string) =>
  text
    .split('<d:response>')
    .slice(1)
    .map(one => {
      const of = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(one)?.[1]
      return { text: one, href: of('d:href') ?? '', of }
    })

/** Sends requests like an app that has signed in. */
export function nextcloudClient({ url }: Pick<TestApp, 'url'>, authorization: string) {
  const send = async (method: string, path: string, { headers = {}, body, as }: Options = {}) => {
    const credential = as === null ? {} : { authorization: as ?? authorization }
    const answer = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...credential, ...headers },
      ...(body === undefined ? {} : { body: body as BodyInit }),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  return {
    send,
    async propfind(path: string, depth = '1') {
      const body = bodyOf('d:propfind', PROP)
      const { status, text } = await send('PROPFIND', path, { headers: { depth }, body })
      expect([path, status]).toEqual([path, 207])
      return entriesIn(text)
    },
    /** A request of the Open Collaboration Services, with a form. */
    async ocs(method: string, path: string, form: Record<string, string> = {}) {
      const isForm = method === 'POST' || method === 'PUT'
      const query = isForm ? '' : `&${new URLSearchParams(form)}`
      const { status, text } = await send(method, `/ocs/v2.php${path}?format=json${query}`, {
        headers: { 'ocs-apirequest': 'true' },
        ...(isForm ? { body: new URLSearchParams(form).toString() } : {}),
      })
      return { status, ...JSON.parse(text).ocs }
    },
  }
}
