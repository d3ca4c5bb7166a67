import { connect, type Service } from './client.ts'
import { readEnvironment } from './config.ts'
import { findLogin } from './credentials.ts'
import type { Context } from './run.ts'

/** The service that the caller is signed in to. @throws NOT_SIGNED_IN */
export const open = async ({ patience }: Context): Promise<Service> =>
  connect(await findLogin(readEnvironment()), patience)
