import type { PlanView } from '../src/services/accounts/user.ts'
import { builder } from './builder.ts'

export const Plan = builder.objectRef<PlanView>('Plan').implement({
  description: 'The limits of an account, and of the workspaces that it owns. Null means unlimited.',
  fields: t => ({
    id: t.exposeID('id', { description: 'The id of the plan.' }),
    name: t.exposeString('name', { description: 'Its display name.' }),
    maxFileSize: t.expose('maxFileSizeBytes', { type: 'Bytes', description: 'Maximum bytes of one file.' }),
    maxBytes: t.expose('maxTotalStorageBytes', {
      type: 'Bytes',
      description: 'Maximum bytes of all files in the own drive.',
    }),
    maxFiles: t.exposeInt('maxFiles', { nullable: true, description: 'Maximum number of files in the own drive.' }),
    maxFolders: t.exposeInt('maxFolders', {
      nullable: true,
      description: 'Maximum number of folders in the own drive.',
    }),
    maxNotes: t.exposeInt('maxNotes', { nullable: true, description: 'Maximum number of notes on the own files.' }),
    maxLinks: t.exposeInt('maxPublicLinks', { nullable: true, description: 'Maximum number of active links.' }),
    maxApiKeys: t.exposeInt('maxPrivateApiKeys', { description: 'Maximum number of private API keys.' }),
    maxWorkspaces: t.exposeInt('maxUserWorkspaces', { description: 'Maximum number of owned workspaces.' }),
    maxWorkspaceBytes: t.expose('maxTotalStorageBytesWorkspace', {
      type: 'Bytes',
      description: 'Maximum bytes of all files in each workspace.',
    }),
    maxWorkspaceFiles: t.exposeInt('maxFilesWorkspace', {
      nullable: true,
      description: 'Maximum number of files in each workspace.',
    }),
    maxWorkspaceFolders: t.exposeInt('maxWorkspaceFolders', {
      nullable: true,
      description: 'Maximum number of folders in each workspace.',
    }),
    maxWorkspaceMembers: t.exposeInt('maxUsersWorkspace', {
      description: 'Maximum number of members of each workspace.',
    }),
    maxWorkspaceApiKeys: t.exposeInt('maxWorkspaceApiKeys', {
      description: 'Maximum number of API keys of each workspace.',
    }),
    maxWorkspaceInvites: t.exposeInt('maxPendingInvites', {
      nullable: true,
      description: 'Maximum number of pending invites of each workspace.',
    }),
  }),
})
