import type { PlanView } from '../src/services/accounts/user.ts'
import { builder } from './builder.ts'

export const Plan = builder.objectRef<PlanView>('Plan').implement({
  description: 'The limits of an account, and of the workspaces that it owns. Null means unlimited.',
  fields: t => ({
    id: t.exposeID('id', { description: 'Names the plan.' }),
    name: t.exposeString('name', { description: 'Its name for people.' }),
    maxFileSize: t.expose('maxFileSizeBytes', { type: 'Bytes', description: 'Of one file.' }),
    maxBytes: t.expose('maxTotalStorageBytes', { type: 'Bytes', description: 'Of the own drive.' }),
    maxFiles: t.exposeInt('maxFiles', { nullable: true, description: 'Of the own drive.' }),
    maxFolders: t.exposeInt('maxFolders', { nullable: true, description: 'Of the own drive.' }),
    maxNotes: t.exposeInt('maxNotes', { nullable: true, description: 'On the own files.' }),
    maxLinks: t.exposeInt('maxPublicLinks', { nullable: true, description: 'Links that live at a time.' }),
    maxApiKeys: t.exposeInt('maxPrivateApiKeys', { description: 'Private API keys.' }),
    maxWorkspaces: t.exposeInt('maxUserWorkspaces', { description: 'Workspaces owned.' }),
    maxWorkspaceBytes: t.expose('maxTotalStorageBytesWorkspace', {
      type: 'Bytes',
      description: 'Of the drive of each workspace.',
    }),
    maxWorkspaceFiles: t.exposeInt('maxFilesWorkspace', {
      nullable: true,
      description: 'Of the drive of each workspace.',
    }),
    maxWorkspaceFolders: t.exposeInt('maxWorkspaceFolders', {
      nullable: true,
      description: 'Of the drive of each workspace.',
    }),
    maxWorkspaceMembers: t.exposeInt('maxUsersWorkspace', { description: 'Of each workspace.' }),
    maxWorkspaceApiKeys: t.exposeInt('maxWorkspaceApiKeys', { description: 'Of each workspace.' }),
    maxWorkspaceInvites: t.exposeInt('maxPendingInvites', {
      nullable: true,
      description: 'Pending ones of each workspace.',
    }),
  }),
})
