import { connect, type Service } from './client.ts'
import { environmentOf, findLogin } from './credentials.ts'
import type { Context } from './run.ts'

/**
 * The service to which the caller is signed in.
 *
 * @throws NOT_SIGNED_IN
 */
export const open = async ({
  patience,
  service,
}: Pick<Context, 'patience' | 'service'>): Promise<Service> =>
  connect(await findLogin(environmentOf(service)), patience)
