import { connect, type Service } from './client.ts'
import { environmentOf, findLogin } from './credentials.ts'
import type { Context } from './run.ts'

/** The service that the caller is signed in to. @throws NOT_SIGNED_IN */
export const open = async ({
  patience,
  service,
}: Pick<Context, 'patience' | 'service'>): Promise<Service> =>
  connect(await findLogin(environmentOf(service)), patience)
