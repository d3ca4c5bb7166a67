import './account.ts'
import './api-key.ts'
import './direct-share.ts'
import './invite.ts'
import './member.ts'
import './scalars.ts'
import './workspace.ts'
import './workspace-entry.ts'
import './workspace-file.ts'
import './node.ts'
import './file.ts'
import './folder.ts'
import './note.ts'
import './share.ts'
import './user.ts'
import { builder } from './builder.ts'

/** The one description of the service: GraphQL serves it, the REST view is derived from it. */
export const schema = builder.toSchema()
